package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import org.jspecify.annotations.Nullable;

/**
 * The models of an application.
 *
 * @param chat generates text; null for none
 * @param embedding embeds texts; null for none
 */
public record OpenAiModels(
        @Nullable IreeChatModel chat, @Nullable IreeEmbeddingModel embedding) {}
