/**
 * Language models and tokenizers: {@link io.github.iree4j.spring.ai.IreeChatModel}, Spring AI's {@link
 * org.springframework.ai.chat.model.ChatModel}, answers messages with a generator of text. Models on text encoders are in
 * {@code io.github.iree4j.spring.ai.encoder}. All types here are thread-safe.
 */
@NullMarked
package io.github.iree4j.spring.ai;

import org.jspecify.annotations.NullMarked;
