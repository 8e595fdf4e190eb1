/**
 * Programs served over the Open Inference Protocol, version 2, with REST (<a
 * href="https://github.com/kserve/open-inference-protocol">the protocol</a>; <a
 * href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md">its binary
 * tensor data extension</a>), so clients of KServe and Triton work unchanged.
 *
 * <p>Start at {@link io.github.iree4j.spring.serving.ServedModels}, which maps model names and versions to functions.
 * Requests are untrusted: declared sizes are checked against limits before memory is allocated.
 */
@NullMarked
package io.github.iree4j.spring.serving;

import org.jspecify.annotations.NullMarked;
