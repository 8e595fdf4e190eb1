package io.github.iree4j.spring.ai.autoconfigure;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.micrometer.observation.ObservationRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationConvention;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;

/**
 * {@link AutoConfiguration Auto-configuration} for {@link IreeEmbeddingModel}. Like Spring AI's own models, backs off
 * when {@code spring.ai.model.embedding} names another model.
 */
@AutoConfiguration(
        after = IreeAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass({EmbeddingModel.class, InvocationService.class})
@ConditionalOnBean(InvocationService.class)
@ConditionalOnProperty("iree.ai.embedding.module")
@ConditionalOnProperty(name = SpringAIModelProperties.EMBEDDING_MODEL, havingValue = "iree", matchIfMissing = true)
@EnableConfigurationProperties(IreeEmbeddingProperties.class)
public final class IreeEmbeddingAutoConfiguration {

    private static final Logger LOGGER = LoggerFactory.getLogger(IreeEmbeddingAutoConfiguration.class);

    /** For Spring. */
    IreeEmbeddingAutoConfiguration() {}

    /** With DJL's binding of Hugging Face's tokenizers. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HuggingFaceTokenizer.class)
    @ImportRuntimeHints(TokenizerRuntimeHints.class)
    static class TokenizerConfiguration {

        @Bean(destroyMethod = "close")
        @ConditionalOnMissingBean(TextTokenizer.class)
        HuggingFaceTextTokenizer ireeTextTokenizer(IreeEmbeddingProperties properties) {
            if (properties.tokenizer() == null) {
                throw new EmbeddingUnavailableException(
                        "Module '%s' is configured to embed texts, but 'iree.ai.embedding.tokenizer' is not set."
                                .formatted(properties.module()),
                        "Set it to the tokenizer.json of the model, for example 'classpath:models/tokenizer.json', or define a bean of type TextTokenizer.",
                        null);
            }
            try {
                return HuggingFaceTextTokenizer.load(properties.tokenizer());
            } catch (IreeException e) {
                throw new EmbeddingUnavailableException(
                        "The tokenizer of 'iree.ai.embedding.tokenizer' cannot be used: %s.".formatted(e.getMessage()),
                        "Set it to the tokenizer.json that belongs to the model of module '%s'."
                                .formatted(properties.module()),
                        e);
            }
        }
    }

    @Bean
    @ConditionalOnMissingBean
    IreeEmbeddingModel ireeEmbeddingModel(
            Programs programs,
            InvocationService invocations,
            ObjectProvider<TextTokenizer> tokenizer,
            IreeEmbeddingProperties properties,
            ObjectProvider<ObservationRegistry> observations,
            ObjectProvider<EmbeddingModelObservationConvention> convention) {
        TextTokenizer known = tokenizer.getIfAvailable();
        if (known == null) {
            throw new EmbeddingUnavailableException(
                    "Module '%s' is configured to embed texts, but there is no tokenizer."
                            .formatted(properties.module()),
                    "Add 'ai.djl.huggingface:tokenizers' to the class path, as spring-boot-starter-iree-ai does, or define a bean of type TextTokenizer.",
                    null);
        }
        IreeEmbeddingModel model = new IreeEmbeddingModel(
                programs,
                invocations,
                known,
                properties.settings(),
                observations.getIfUnique(() -> ObservationRegistry.NOOP),
                convention.getIfUnique());
        if (programs.find(model.model()).isPresent()) { // otherwise checked at the first call
            check(model);
        } else if (programs.versions(model.model()).isEmpty()) {
            LOGGER.warn(
                    "module '{}' of iree.ai.embedding.module is not loaded; requests fail until it is", model.model());
        }
        return model;
    }

    private static void check(IreeEmbeddingModel model) {
        try {
            model.check();
        } catch (IreeException e) {
            throw new EmbeddingUnavailableException(
                    "Module '%s' of 'iree.ai.embedding.module' cannot embed texts: %s."
                            .formatted(model.model(), e.getMessage()),
                    "Name a module of 'iree.modules' and, where it has several functions, the one that takes tokens; the properties under 'iree.ai.embedding' describe its arguments and results.",
                    e);
        }
    }
}
