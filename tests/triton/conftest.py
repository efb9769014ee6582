import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
os.environ["TRITON_INTERPRET"] = "1"

import interpreter  # noqa: E402

interpreter.install()
