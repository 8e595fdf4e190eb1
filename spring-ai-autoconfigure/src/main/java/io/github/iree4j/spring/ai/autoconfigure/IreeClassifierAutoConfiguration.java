package io.github.iree4j.spring.ai.autoconfigure;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.IreeClassifier;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeClassifier}. */
@AutoConfiguration(after = {IreeAutoConfiguration.class, IreeEmbeddingAutoConfiguration.class})
@ConditionalOnClass(InvocationService.class)
@ConditionalOnBean(InvocationService.class)
@ConditionalOnProperty("iree.ai.classifier.module")
@EnableConfigurationProperties(IreeClassifierProperties.class)
public final class IreeClassifierAutoConfiguration {

    /** For Spring. */
    IreeClassifierAutoConfiguration() {}

    /** The classifier's tokenizer, with DJL's binding of Hugging Face's tokenizers. No candidate for other models. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HuggingFaceTokenizer.class)
    @ConditionalOnProperty("iree.ai.classifier.tokenizer")
    @ImportRuntimeHints(TokenizerRuntimeHints.class)
    static class TokenizerConfiguration {

        @Bean(destroyMethod = "close", defaultCandidate = false)
        @ConditionalOnMissingBean(name = "ireeClassifierTokenizer")
        HuggingFaceTextTokenizer ireeClassifierTokenizer(IreeClassifierProperties properties) {
            return properties.setup().load(properties.tokenizer());
        }
    }

    @Bean
    @ConditionalOnMissingBean
    IreeClassifier ireeClassifier(
            Programs programs,
            ObjectProvider<InvocationOperations> invocations,
            InvocationService service,
            @Qualifier("ireeClassifierTokenizer") ObjectProvider<TextTokenizer> own,
            ObjectProvider<TextTokenizer> shared,
            IreeClassifierProperties properties) {
        TextModelSetup setup = properties.setup();
        TextTokenizer tokenizer = own.getIfAvailable();
        if (tokenizer == null && properties.tokenizer() == null) {
            tokenizer = shared.getIfAvailable();
        }
        IreeClassifier model = new IreeClassifier(
                programs, invocations.getIfUnique(() -> service), setup.require(tokenizer), properties.settings());
        setup.check(programs, model::check);
        return model;
    }
}
