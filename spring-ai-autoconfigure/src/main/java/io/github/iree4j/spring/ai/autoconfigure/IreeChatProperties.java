package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.ChatSettings;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * The {@code iree.ai.chat.*} properties.
 *
 * @param module Module of 'iree.modules' for generating text. Required for a ChatModel.
 * @param config Location of the exporter's config.json. When not set, a page has 32 tokens, and a sequence two pages.
 * @param tokenizer Location of the model's tokenizer.json.
 * @param template Chat template in Jinja, or its location. When not set, 'chat_template' of the tokenizer_config.json, or
 *     the chat_template.jinja, beside the tokenizer.
 * @param maxTokens Maximum number of tokens of an answer, fewer where a sequence has less room.
 * @param temperature Divisor of logits, 0 for the most probable token.
 * @param topK Number of tokens to choose from, 0 for all.
 * @param topP Share of the probability to choose from, 1 for all.
 * @param seed Seed of the choice of tokens. When not set, another seed for each request.
 * @param pages Number of pages of the cache. When not set, the number of the config.json.
 * @param timeout Maximum duration of a request.
 * @param stopTokens Tokens that end an answer, as the tokenizer.json writes them. When not set, 'eos_token' of the
 *     tokenizer_config.json.
 * @param requestsPerTenant Maximum number of unfinished requests of a tenant. When not set, unlimited.
 * @param proposedTokens Maximum number of tokens proposed from earlier text, or by a draft, and verified by a step, where
 *     that is faster; at most 64.
 * @param hostPages Number of pages in the memory of the host, for requests that lose their pages of the cache.
 * @param probePrompts Number of prompts for measuring at the start which functions and shapes compute equal bits. 1 is
 *     the shortest measurement.
 * @param stepsAhead Maximum number of decode steps submitted before the first ends, of a program with top_k 1; at most 64.
 * @param draft Properties of a smaller model that proposes tokens.
 */
@ConfigurationProperties("iree.ai.chat")
public record IreeChatProperties(
        @Nullable String module,
        @Nullable Resource config,
        @Nullable Resource tokenizer,
        @Nullable String template,
        @DefaultValue("512") int maxTokens,
        @DefaultValue("0") double temperature,
        @DefaultValue("0") int topK,
        @DefaultValue("1") double topP,
        @Nullable Long seed,
        @Nullable Integer pages,
        @Nullable Duration timeout,
        @DefaultValue List<String> stopTokens,
        @Nullable Integer requestsPerTenant,
        @DefaultValue("0") int proposedTokens,
        @DefaultValue("0") int hostPages,
        @DefaultValue("2") int probePrompts,
        @DefaultValue("1") int stepsAhead,
        @DefaultValue Draft draft) {

    private static final String PREFIX = "iree.ai.chat";

    /**
     * The {@code iree.ai.chat.draft.*} properties.
     *
     * @param module Module of 'iree.modules' that computes the proposed tokens, a smaller model for the same tokens. When not
     *     set, tokens are proposed from earlier text.
     * @param config Location of the config.json of the draft.
     */
    public record Draft(@Nullable String module, @Nullable Resource config) {}

    TextModelSetup setup() {
        return new TextModelSetup(PREFIX, "generate text", module);
    }

    ChatSettings settings(ResourceLoader resources) {
        Resource file = tokenizer;
        if (file == null) {
            throw new TextModelUnavailableException(
                    "Module '%s' is configured to generate text, but 'iree.ai.chat.tokenizer' is not set."
                            .formatted(module),
                    "Set it to the tokenizer.json of the model, for example 'file:models/chat/tokenizer.json'.",
                    null);
        }
        return TextModelSetup.settings(PREFIX, () -> {
            ChatSettings.Builder builder = ChatSettings.builder(String.valueOf(module), file)
                    .maxTokens(maxTokens)
                    .temperature(temperature)
                    .topK(topK)
                    .topP(topP)
                    .stopTokens(stopTokens)
                    .proposedTokens(proposedTokens)
                    .hostPages(hostPages)
                    .probePrompts(probePrompts)
                    .stepsAhead(stepsAhead);
            PropertyMapper present = PropertyMapper.get();
            present.from(config).to(builder::config);
            present.from(seed).to(builder::seed);
            present.from(pages).to(builder::pages);
            present.from(timeout).to(builder::timeout);
            present.from(requestsPerTenant).to(builder::requestsPerTenant);
            present.from(draft.module()).to(builder::draft);
            present.from(draft.config()).to(builder::draftConfig);
            if (template != null && (template.contains("{{") || template.contains("{%"))) {
                builder.template(template);
            } else if (template != null) {
                builder.template(resources.getResource(template));
            }
            return builder.build();
        });
    }
}
