// Runs the kernel on a card, or in emulation, on the files in data/: ./host kernel.hw.xclbin [data] [device]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "data.h"

static void check(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    throw std::runtime_error(std::string(what) + " failed with OpenCL error " + std::to_string(status));
  }
}

// device `index` of the platform of the vendor
static cl_device_id find_device(unsigned index) {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    char name[256] = {};
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr), "clGetPlatformInfo");
    if (std::string(name) != "Xilinx") { continue; }
    cl_uint found = 0;
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 0, nullptr, &found), "clGetDeviceIDs");
    std::vector<cl_device_id> devices(found);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, found, devices.data(), nullptr), "clGetDeviceIDs");
    if (index < found) { return devices[index]; }
    throw std::runtime_error("there are " + std::to_string(found) + " devices; number " + std::to_string(index) +
                             " is none of them");
  }
  throw std::runtime_error("OpenCL has no platform 'Xilinx': source the setup script of XRT");
}

static std::vector<unsigned char> read_binary(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) { throw std::runtime_error("cannot read " + path); }
  return std::vector<unsigned char>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

static void run_kernel(const std::string &path, const std::string &folder, unsigned index) {
  cl_int status = CL_SUCCESS;
  cl_device_id device = find_device(index);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  std::vector<unsigned char> binary = read_binary(path);
  const unsigned char *bytes = binary.data();
  const size_t length = binary.size();
  cl_program program = clCreateProgramWithBinary(context, 1, &device, &length, &bytes, nullptr, &status);
  check(status, "clCreateProgramWithBinary");
  cl_kernel kernel = clCreateKernel(program, KERNEL, &status);
  check(status, "clCreateKernel");
  std::vector<std::vector<char>> data;
  std::vector<cl_mem> buffers;
  for (cl_uint n = 0; ARGUMENTS[n].name; n++) {
    const Argument &argument = ARGUMENTS[n];
    data.push_back(read_data(folder, argument));
    buffers.push_back(nullptr);
    if (argument.kind == Kind::number) {
      check(clSetKernelArg(kernel, n, argument.bytes, data.back().data()), "clSetKernelArg");
      continue;
    }
    buffers.back() = clCreateBuffer(context, CL_MEM_READ_WRITE, argument.bytes, nullptr, &status);
    check(status, "clCreateBuffer");
    check(clSetKernelArg(kernel, n, sizeof(cl_mem), &buffers.back()), "clSetKernelArg");
    check(clEnqueueWriteBuffer(queue, buffers.back(), CL_TRUE, 0, argument.bytes, data.back().data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
  }
  auto start = std::chrono::steady_clock::now();
  check(clEnqueueTask(queue, kernel, 0, nullptr, nullptr), "clEnqueueTask");
  check(clFinish(queue), "clFinish");
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  for (cl_uint n = 0; ARGUMENTS[n].name; n++) {
    if (ARGUMENTS[n].written) {
      check(clEnqueueReadBuffer(queue, buffers[n], CL_TRUE, 0, ARGUMENTS[n].bytes, data[n].data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
      write_data(folder, ARGUMENTS[n], data[n]);
    }
    if (buffers[n]) { clReleaseMemObject(buffers[n]); }
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  std::printf("%s: %.6f ms\n", KERNEL, elapsed.count());
}

int main(int count, char **words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s kernel.xclbin [data] [device]\n", words[0]);
    return 2;
  }
  try {
    run_kernel(words[1], count > 2 ? words[2] : "data", count > 3 ? std::stoul(words[3]) : 0);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", KERNEL, error.what());
    return 1;
  }
  return 0;
}
