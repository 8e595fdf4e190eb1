/** Auto-configuration of Spring AI's {@link org.springframework.ai.embedding.EmbeddingModel} on a program. */
@NullMarked
package io.github.iree4j.spring.ai.autoconfigure;

import org.jspecify.annotations.NullMarked;
