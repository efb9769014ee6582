#include "support/error_of.h"
#include "tilewright/array.h"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <utility>

namespace tilewright {
namespace {

// A tensor as another library would hand it over; counts the calls of its deleter.
struct ForeignTensor {
  ForeignTensor() {
    tensor.dl_tensor.data = data;
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = 2;
    tensor.dl_tensor.dtype = {kDLFloat, 32, 1};
    tensor.dl_tensor.shape = shape;
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) { ++static_cast<ForeignTensor*>(self->manager_ctx)->deleted; };
  }

  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {1, 2};
  int deleted = 0;
  DLManagedTensor tensor = {};
};

TEST(DLPack, import_is_a_view_until_its_last_array_goes) {
  ForeignTensor foreign;
  {
    Array row;
    {
      Array array = Array::from_dlpack(&foreign.tensor);
      EXPECT_EQ(array.to_vector<float>(), std::vector<float>({0, 1, 2, 3, 4, 5}));
      array.at<float>({1, 2}) = 50;
      row = array[1];
    }
    EXPECT_EQ(foreign.data[5], 50);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, import_keeps_strides_and_offset) {
  ForeignTensor foreign;
  foreign.tensor.dl_tensor.strides = foreign.strides;
  foreign.tensor.dl_tensor.byte_offset = 4;
  foreign.shape[1] = 2;
  EXPECT_EQ(Array::from_dlpack(&foreign.tensor).to_vector<float>(), std::vector<float>({1, 3, 2, 4}));
}

TEST(DLPack, import_takes_a_tensor_without_a_deleter) {
  ForeignTensor foreign;
  foreign.tensor.deleter = nullptr;
  EXPECT_EQ(Array::from_dlpack(&foreign.tensor).numel(), 6);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, a_refused_tensor_remains_the_callers) {
  ForeignTensor foreign;
  foreign.tensor.dl_tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(error_of([&] { Array::from_dlpack(&foreign.tensor); }),
            "from_dlpack: the tensor is on a device of type 2; expected the CPU's memory");
  foreign.tensor.dl_tensor.device = {kDLCPU, 0};
  foreign.tensor.dl_tensor.dtype = {kDLComplex, 64, 1};
  EXPECT_EQ(error_of([&] { Array::from_dlpack(&foreign.tensor); }),
            "from_dlpack: elements of type code 5, 64 bits and 1 lanes have no element type here");
  foreign.tensor.dl_tensor.dtype = {kDLFloat, 32, 4};
  EXPECT_EQ(error_of([&] { Array::from_dlpack(&foreign.tensor); }),
            "from_dlpack: elements of type code 2, 32 bits and 4 lanes have no element type here");
  EXPECT_EQ(error_of([] { Array::from_dlpack(nullptr); }), "from_dlpack: the tensor is null");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, export_describes_the_view) {
  Array array = Array::arange(24).view({2, 3, 4}).transpose(0, 2)[1];
  DLManagedTensor* exported = array.to_dlpack();
  EXPECT_EQ(exported->dl_tensor.data, array.data());
  EXPECT_EQ(exported->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(exported->dl_tensor.ndim, 2);
  EXPECT_EQ(exported->dl_tensor.shape[0], 3);
  EXPECT_EQ(exported->dl_tensor.shape[1], 2);
  EXPECT_EQ(exported->dl_tensor.strides[0], 4);
  EXPECT_EQ(exported->dl_tensor.strides[1], 12);
  EXPECT_EQ(exported->dl_tensor.byte_offset, 0u);
  exported->deleter(exported);
}

TEST(DLPack, every_type_makes_the_round_trip) {
  const std::pair<DType, DLDataType> types[] = {
      {boolean, {6, 8, 1}},         {int8, {kDLInt, 8, 1}},         {uint8, {kDLUInt, 8, 1}},
      {int16, {kDLInt, 16, 1}},     {int32, {kDLInt, 32, 1}},       {int64, {kDLInt, 64, 1}},
      {float16, {kDLFloat, 16, 1}}, {bfloat16, {kDLBfloat, 16, 1}}, {float32, {kDLFloat, 32, 1}},
      {float64, {kDLFloat, 64, 1}}, {float8_e4m3fn, {10, 8, 1}},    {float8_e5m2, {12, 8, 1}},
  };
  for (const auto& [dtype, expected] : types) {
    Array array = Array::randint(0, 2, {3, 5}, 1, dtype);
    DLManagedTensor* exported = array.to_dlpack();
    EXPECT_EQ(exported->dl_tensor.dtype.code, expected.code) << name(dtype);
    EXPECT_EQ(exported->dl_tensor.dtype.bits, expected.bits) << name(dtype);
    EXPECT_EQ(exported->dl_tensor.dtype.lanes, 1) << name(dtype);
    EXPECT_TRUE(equal(Array::from_dlpack(exported), array)) << name(dtype);
  }
}

TEST(DLPack, export_keeps_the_memory_alive) {
  DLManagedTensor* exported = Array::full({4}, 7).to_dlpack();
  Array again = Array::from_dlpack(exported);
  EXPECT_EQ(again.to_vector<float>(), std::vector<float>({7, 7, 7, 7}));
}

} // namespace
} // namespace tilewright
