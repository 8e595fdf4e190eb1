/**
 * Connections between nodes by gRPC: three bidirectional streams of whole frames, whose bytes the runtime reads and writes itself. gRPC frames,
 * encrypts, and controls the flow; nothing here knows what a frame means.
 */
@NullMarked
package io.github.iree4j.cluster.transport;

import org.jspecify.annotations.NullMarked;
