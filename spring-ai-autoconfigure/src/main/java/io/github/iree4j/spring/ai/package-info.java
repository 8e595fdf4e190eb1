/**
 * Models on text encoders: texts are tokenized, and the tokens are passed to a program in padded batches. {@link
 * io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel}, Spring AI's {@link org.springframework.ai.embedding.EmbeddingModel},
 * has a vector for each text, {@link io.github.iree4j.spring.ai.encoder.IreeReranker}, Spring AI's {@link
 * org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor}, sorts documents by relevance for a query,
 * {@link io.github.iree4j.spring.ai.encoder.IreeClassifier} labels texts, and {@link
 * io.github.iree4j.spring.ai.IreeChatModel}, Spring AI's {@link org.springframework.ai.chat.model.ChatModel}, answers
 * messages with a generator of text. All types here are thread-safe.
 */
@NullMarked
package io.github.iree4j.spring.ai;

import org.jspecify.annotations.NullMarked;
