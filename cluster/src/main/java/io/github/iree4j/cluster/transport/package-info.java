/**
 * Connections between nodes by gRPC: three bidirectional streams of whole frames; the runtime itself reads and writes
 * the bytes. gRPC frames, encrypts, and controls the flow; nothing here knows the meaning of a frame.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.cluster.transport;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
