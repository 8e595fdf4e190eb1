/**
 * A complete driver without hardware: streams are threads, memory belongs to the process, and kernels are Java functions.
 * Written against the exported packages of iree4j only, as an example of a driver in a separate project.
 */
@NullMarked
package io.example.threads;

import org.jspecify.annotations.NullMarked;
