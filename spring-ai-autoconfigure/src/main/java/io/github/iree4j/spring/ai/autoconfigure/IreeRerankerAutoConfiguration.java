package io.github.iree4j.spring.ai.autoconfigure;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.IreeReranker;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
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

/** {@link AutoConfiguration Auto-configuration} for {@link IreeReranker}. */
@AutoConfiguration(after = {IreeAutoConfiguration.class, IreeEmbeddingAutoConfiguration.class})
@ConditionalOnClass(InvocationService.class)
@ConditionalOnBean(InvocationService.class)
@ConditionalOnProperty("iree.ai.reranker.module")
public final class IreeRerankerAutoConfiguration {

    /** For Spring. */
    IreeRerankerAutoConfiguration() {}

    /** With Spring AI's classes for retrieval. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DocumentPostProcessor.class)
    @EnableConfigurationProperties(IreeRerankerProperties.class)
    static class RerankerConfiguration {

        /** The reranker's tokenizer, with DJL's binding of Hugging Face's tokenizers. No candidate for other models. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(HuggingFaceTokenizer.class)
        @ConditionalOnProperty("iree.ai.reranker.tokenizer")
        @ImportRuntimeHints(TokenizerRuntimeHints.class)
        static class TokenizerConfiguration {

            @Bean(destroyMethod = "close", defaultCandidate = false)
            @ConditionalOnMissingBean(name = "ireeRerankerTokenizer")
            HuggingFaceTextTokenizer ireeRerankerTokenizer(IreeRerankerProperties properties) {
                return properties.setup().load(properties.tokenizer());
            }
        }

        @Bean
        @ConditionalOnMissingBean
        IreeReranker ireeReranker(
                Programs programs,
                ObjectProvider<InvocationOperations> invocations,
                InvocationService service,
                @Qualifier("ireeRerankerTokenizer") ObjectProvider<TextTokenizer> own,
                ObjectProvider<TextTokenizer> shared,
                IreeRerankerProperties properties) {
            TextModelSetup setup = properties.setup();
            TextTokenizer tokenizer = own.getIfAvailable();
            if (tokenizer == null && properties.tokenizer() == null) {
                tokenizer = shared.getIfAvailable();
            }
            IreeReranker model = new IreeReranker(
                    programs, invocations.getIfUnique(() -> service), setup.require(tokenizer), properties.settings());
            setup.check(programs, model::check);
            return model;
        }
    }

    /** Without these classes nothing would rerank. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor")
    static class MissingConfiguration {

        MissingConfiguration(Environment environment) {
            throw new TextModelUnavailableException(
                    "Module '%s' is configured to rerank texts, but Spring AI's interface of rerankers, DocumentPostProcessor, is not on the class path."
                            .formatted(environment.getProperty("iree.ai.reranker.module")),
                    "Add 'org.springframework.ai:spring-ai-rag', or remove 'iree.ai.reranker.module'.",
                    null);
        }
    }
}
