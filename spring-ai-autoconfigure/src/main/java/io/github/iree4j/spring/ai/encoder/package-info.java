/**
 * Models on text encoders: texts are tokenized, and the tokens are passed to a program in padded batches. {@link
 * io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel}, Spring AI's {@link
 * org.springframework.ai.embedding.EmbeddingModel}, has a vector for each text, {@link
 * io.github.iree4j.spring.ai.encoder.IreeReranker}, Spring AI's {@link
 * org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor}, sorts documents by relevance for a query, and
 * {@link io.github.iree4j.spring.ai.encoder.IreeClassifier} labels texts. All types here are thread-safe.
 */
@NullMarked
package io.github.iree4j.spring.ai.encoder;

import org.jspecify.annotations.NullMarked;
