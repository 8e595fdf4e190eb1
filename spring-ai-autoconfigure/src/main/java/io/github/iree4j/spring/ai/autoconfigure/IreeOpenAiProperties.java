package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.openai.OpenAiOptions;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The {@code iree.openai.*} properties.
 *
 * @param enabled Whether to serve the chat model and the embedding model over OpenAI's HTTP interface, under '/v1'.
 * @param maxConcurrentRequests Maximum number of requests computed at once. Further requests are refused with 429. Zero
 *     for half of the threads of a servlet container, or 256 for requests with virtual threads.
 * @param tenant Whose requests take turns and have the quota 'iree.ai.chat.requests-per-tenant': 'user' for the parameter
 *     of the request, which clients choose, 'principal' for the authenticated caller.
 */
@ConfigurationProperties("iree.openai")
public record IreeOpenAiProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("0") int maxConcurrentRequests,
        @DefaultValue("user") OpenAiOptions.Tenant tenant) {

    /** Checks ranges. */
    public IreeOpenAiProperties {
        if (maxConcurrentRequests < 0) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.openai.max-concurrent-requests", maxConcurrentRequests, "It must not be negative.");
        }
    }

    OpenAiOptions options(IreeHttpProperties http, int requests) {
        return new OpenAiOptions(
                http.maxRequestSize().toBytes(), maxConcurrentRequests == 0 ? requests : maxConcurrentRequests, tenant);
    }
}
