/**
 * Spring AI's {@link org.springframework.ai.embedding.EmbeddingModel} on a program: texts become tokens, tokens go through the program in
 * padded batches, and what comes out becomes one vector for each text. Start at {@link io.github.iree4j.spring.ai.IreeEmbeddingModel}.
 * Everything here may be used from any number of threads.
 */
@NullMarked
package io.github.iree4j.spring.ai;

import org.jspecify.annotations.NullMarked;
