package io.github.iree4j.spring.ai.autoconfigure;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.micrometer.observation.ObservationRegistry;
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
            return properties.setup().load(properties.tokenizer());
        }
    }

    @Bean
    @ConditionalOnMissingBean
    IreeEmbeddingModel ireeEmbeddingModel(
            Programs programs,
            ObjectProvider<InvocationOperations> invocations,
            InvocationService service,
            ObjectProvider<TextTokenizer> tokenizer,
            IreeEmbeddingProperties properties,
            ObjectProvider<ObservationRegistry> observations,
            ObjectProvider<EmbeddingModelObservationConvention> convention) {
        TextModelSetup setup = properties.setup();
        IreeEmbeddingModel model = new IreeEmbeddingModel(
                programs,
                invocations.getIfUnique(() -> service),
                setup.require(tokenizer.getIfAvailable()),
                properties.settings(),
                observations.getIfUnique(() -> ObservationRegistry.NOOP),
                convention.getIfUnique());
        setup.check(programs, model::check);
        return model;
    }
}
