// What TT-Metalium generates for a kernel from its circular buffers; no value matters where nothing runs.
#pragma once
#include <cstdint>

constexpr unsigned char unpack_src_format[32] = {}, unpack_dst_format[32] = {};
constexpr unsigned char pack_src_format[32] = {}, pack_dst_format[32] = {};
constexpr uint8_t unpack_tile_num_faces[32] = {}, unpack_partial_face[32] = {}, unpack_tile_face_r_dim[32] = {};
constexpr uint8_t unpack_num_faces_r_dim[32] = {}, unpack_num_faces_c_dim[32] = {};
constexpr uint8_t unpack_narrow_tile[32] = {}, unpack_tile_r_dim[32] = {}, unpack_tile_c_dim[32] = {};
constexpr uint8_t pack_tile_num_faces[32] = {}, pack_partial_face[32] = {}, pack_tile_face_r_dim[32] = {};
constexpr uint8_t pack_num_faces_r_dim[32] = {}, pack_num_faces_c_dim[32] = {};
constexpr uint8_t pack_narrow_tile[32] = {}, pack_tile_r_dim[32] = {}, pack_tile_c_dim[32] = {};
constexpr uint16_t unpack_tile_size[32] = {}, pack_tile_size[32] = {};
