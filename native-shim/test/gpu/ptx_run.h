// Running: a launch, its blocks, their warps.
#ifndef IREE4J_TEST_PTX_RUN_H_
#define IREE4J_TEST_PTX_RUN_H_

#include "ptx_internal.h"

// Runs the lanes of a warp until each waits at a barrier or is over: false; or
// until it is the turn of another warp: true.
bool ptx_run_warp(ptx_warp_t* w);

// Lets the threads go whose barrier has all that it waits for; false if there
// are none.
bool ptx_release_barriers(ptx_block_t* block);

#endif  // IREE4J_TEST_PTX_RUN_H_
