package io.github.iree4j.spring.ai.autoconfigure;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.hubspot.jinjava.Jinjava;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.ChatSettings;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * {@link AutoConfiguration Auto-configuration} for {@link IreeChatModel}. Backs off when the application has another
 * {@link ChatModel}, or {@code spring.ai.model.chat} names another model.
 */
@AutoConfiguration(
        after = IreeAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass({ChatModel.class, InvocationService.class})
@ConditionalOnBean(InvocationService.class)
@ConditionalOnMissingBean(ChatModel.class)
@ConditionalOnProperty("iree.ai.chat.module")
@ConditionalOnProperty(name = SpringAIModelProperties.CHAT_MODEL, havingValue = "iree", matchIfMissing = true)
public final class IreeChatAutoConfiguration {

    /** For Spring. */
    IreeChatAutoConfiguration() {}

    /** With the three optional libraries. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Generator.class, Jinjava.class, HuggingFaceTokenizer.class})
    @EnableConfigurationProperties(IreeChatProperties.class)
    @ImportRuntimeHints(TokenizerRuntimeHints.class)
    static class ChatConfiguration {

        @Bean(destroyMethod = "close")
        @ConditionalOnMissingBean(ChatModel.class)
        IreeChatModel ireeChatModel(
                Programs programs,
                IreeChatProperties properties,
                ResourceLoader resources,
                ObjectProvider<ObservationRegistry> observations,
                ObjectProvider<ChatModelObservationConvention> convention) {
            IreeChatModel model = create(
                    programs,
                    properties.settings(resources),
                    observations.getIfUnique(() -> ObservationRegistry.NOOP),
                    convention.getIfUnique());
            try {
                properties.setup().check(programs, model::check);
            } catch (RuntimeException | Error e) {
                model.close();
                throw e;
            }
            return model;
        }

        private static IreeChatModel create(
                Programs programs,
                ChatSettings settings,
                ObservationRegistry observations,
                @Nullable ChatModelObservationConvention convention) {
            try {
                return new IreeChatModel(programs, settings, observations, convention);
            } catch (IreeException e) {
                throw new TextModelUnavailableException(
                        "The files of 'iree.ai.chat' cannot be used: %s.".formatted(e.getMessage()),
                        "Set 'iree.ai.chat.tokenizer', 'iree.ai.chat.template' and 'iree.ai.chat.stop-tokens' to the tokenizer, template and stop tokens of the model of module '%s'."
                                .formatted(settings.module()),
                        e);
            }
        }
    }

    /** Without this library nothing would generate. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.github.iree4j.generation.Generator")
    static class MissingGeneratorConfiguration {

        MissingGeneratorConfiguration(Environment environment) {
            throw missing(environment, "the generator of text", "io.github.iree4j:iree4j-generation");
        }
    }

    /** Without this library there would be no prompts. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("com.hubspot.jinjava.Jinjava")
    static class MissingTemplatesConfiguration {

        MissingTemplatesConfiguration(Environment environment) {
            throw missing(environment, "the library of chat templates", "com.hubspot.jinjava:jinjava");
        }
    }

    /** Without this library there would be no tokens. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("ai.djl.huggingface.tokenizers.HuggingFaceTokenizer")
    static class MissingTokenizerConfiguration {

        MissingTokenizerConfiguration(Environment environment) {
            throw missing(environment, "the library of tokenizers", "ai.djl.huggingface:tokenizers");
        }
    }

    private static TextModelUnavailableException missing(Environment environment, String what, String coordinates) {
        return new TextModelUnavailableException(
                "Module '%s' is configured to generate text, but %s is not on the class path."
                        .formatted(environment.getProperty("iree.ai.chat.module"), what),
                "Add '%s', or remove 'iree.ai.chat.module'.".formatted(coordinates),
                null);
    }
}
