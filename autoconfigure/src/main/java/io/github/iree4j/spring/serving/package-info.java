/**
 * Programs served by the Open Inference Protocol, version 2, over REST (<a
 * href="https://github.com/kserve/open-inference-protocol">the protocol</a>; <a
 * href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md">its binary tensor data
 * extension</a>), so that clients of KServe and Triton work unchanged.
 *
 * <p>Start at {@link io.github.iree4j.spring.serving.ServedModels}, which says what is served under which name and version. Requests come
 * from strangers: what they say of sizes is compared with limits before memory is taken.
 */
@NullMarked
package io.github.iree4j.spring.serving;

import org.jspecify.annotations.NullMarked;
