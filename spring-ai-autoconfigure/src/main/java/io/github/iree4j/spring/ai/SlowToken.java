package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.generation.TokenDelay;
import java.time.Instant;

/**
 * A token that came late, of a request that has ended.
 *
 * @param ended when the request ended
 * @param number place of the request in the order of submission to the generator, from 0
 * @param tenant the request's tenant; empty without a tenant
 * @param promptTokens tokens of the prompt
 * @param sharedTokens tokens of the prompt found in the cache
 * @param delay the time of the token, and the parts of the time
 */
@NotForApplications
public record SlowToken(
        Instant ended, long number, String tenant, int promptTokens, int sharedTokens, TokenDelay delay) {}
