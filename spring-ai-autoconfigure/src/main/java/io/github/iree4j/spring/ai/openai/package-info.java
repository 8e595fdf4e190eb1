/**
 * The part of OpenAI's HTTP interface that a chat model and an embedding model of this process can answer, so that
 * OpenAI's clients work unchanged.
 *
 * <p>Start at {@link io.github.iree4j.spring.ai.openai.OpenAiController}. Requests are untrusted: parameters that would
 * change an answer and cannot be followed are refused by name, and bodies count against the limits of HTTP.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
