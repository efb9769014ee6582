# Each test is IR with RUN lines: tilewright-opt on it, its output checked by FileCheck.
import os

import lit.formats

config.name = "ir"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = config.source_root
config.test_exec_root = config.binary_root
config.environment["PATH"] = os.pathsep.join(config.tool_directories + [config.environment["PATH"]])
