#ifndef ALLO_IR_ALLOOPS_TD
#define ALLO_IR_ALLOOPS_TD

include "allo/IR/AssertOp.td"
include "allo/IR/BitOps.td"
include "allo/IR/ElementaryOp.td"
include "allo/IR/FixedOps.td"
include "allo/IR/ScheduleOps.td"
include "allo/IR/StreamOps.td"
include "allo/IR/StructOps.td"

#endif
