/**
 * Spring AI's {@link org.springframework.ai.embedding.EmbeddingModel} on a program: texts are tokenized, tokens are
 * passed to the program in padded batches, and the results become a vector per text. Start at {@link
 * io.github.iree4j.spring.ai.IreeEmbeddingModel}. All types here are thread-safe.
 */
@NullMarked
package io.github.iree4j.spring.ai;

import org.jspecify.annotations.NullMarked;
