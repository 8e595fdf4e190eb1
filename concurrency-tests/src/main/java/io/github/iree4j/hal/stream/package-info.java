/** Claims about the streams of CUDA and HIP. */
package io.github.iree4j.hal.stream;
