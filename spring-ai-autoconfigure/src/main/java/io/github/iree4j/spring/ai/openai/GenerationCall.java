package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ai.ChatEngine;
import java.util.List;

/**
 * What a request asks to generate.
 *
 * @param form how answers are written
 * @param parameters the parameters of all answers
 * @param requests a request for each answer; the answers to a prompt follow each other
 */
record GenerationCall(CompletionForm form, GenerationParameters parameters, List<ChatEngine.Request> requests) {}
