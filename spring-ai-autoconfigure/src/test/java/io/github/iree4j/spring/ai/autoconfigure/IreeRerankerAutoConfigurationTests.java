package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.encoder.IreeReranker;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.document.Document;
import org.springframework.ai.rag.Query;
import org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(900)
class IreeRerankerAutoConfigurationTests {

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class,
                    IreeEmbeddingAutoConfiguration.class,
                    IreeRerankerAutoConfiguration.class));
    private final ApplicationContextRunner configured = bare.withPropertyValues(SmallEncoder.rerankerProperties());

    private final ApplicationContextRunner withoutTokenizer =
            bare.withPropertyValues(Stream.of(SmallEncoder.rerankerProperties())
                    .filter(property -> !property.contains("tokenizer"))
                    .toArray(String[]::new));

    private static List<Document> rerank(DocumentPostProcessor processor) {
        return processor.process(new Query("workers"), List.of(new Document("fence"), new Document("workers")));
    }

    @Test
    void moduleAndTokenizerConfigureAPostProcessor() {
        configured.run(context -> {
            assertThat(context.getBean(DocumentPostProcessor.class)).isInstanceOf(IreeReranker.class);
            assertThat(rerank(context.getBean(DocumentPostProcessor.class)))
                    .extracting(Document::getText)
                    .containsExactly("workers", "fence");
        });
    }

    @Test
    void propertiesLimitTheDocuments() {
        configured
                .withPropertyValues("iree.ai.reranker.top-k=1")
                .run(context ->
                        assertThat(rerank(context.getBean(IreeReranker.class))).hasSize(1));
        configured
                .withPropertyValues("iree.ai.reranker.min-score=0.9")
                .run(context ->
                        assertThat(rerank(context.getBean(IreeReranker.class))).hasSize(1));
    }

    @Test
    void callsTheProgramIfAnApplicationHasSeveralStubs() {
        configured
                .withBean("one", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .withBean("two", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .run(context ->
                        assertThat(rerank(context.getBean(IreeReranker.class))).hasSize(2));
    }

    @Test
    void absentWithoutModule() {
        bare.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(DocumentPostProcessor.class));
    }

    @Test
    void backsOffForARerankerOfTheApplicationAndWhenDisabled() {
        configured
                .withBean(IreeReranker.class, () -> null)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(IreeReranker.class));
        configured
                .withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IreeReranker.class));
    }

    @Test
    void modelsWithSeparateTokenizersLiveTogether() {
        configured.withPropertyValues(SmallEncoder.properties()).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(IreeEmbeddingModel.class);
            assertThat(context.getBeansOfType(TextTokenizer.class))
                    .containsOnlyKeys("ireeTextTokenizer", "ireeRerankerTokenizer");
            assertThat(context.getBeanProvider(TextTokenizer.class).getIfAvailable())
                    .as("the tokenizer that applications get")
                    .isSameAs(context.getBean("ireeTextTokenizer"));
        });
    }

    @Test
    void theTokenizerOfTheEmbeddingModelIsSharedUnlessThereIsAnother() {
        withoutTokenizer.withPropertyValues(SmallEncoder.properties()).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(TextTokenizer.class);
            assertThat(rerank(context.getBean(IreeReranker.class)))
                    .first()
                    .extracting(Document::getText)
                    .isEqualTo("workers");
        });
    }

    @Test
    void reportsMissingTokenizerLibraryAndInterface() {
        withoutTokenizer.run(context -> assertThat(analysis(context.getStartupFailure()))
                .isEqualTo("Module 'reranker' is configured to rerank texts, but there is no tokenizer."));
        configured
                .withClassLoader(new FilteredClassLoader(HuggingFaceTokenizer.class))
                .run(context ->
                        assertThat(analysis(context.getStartupFailure())).contains("there is no tokenizer"));
        configured
                .withClassLoader(new FilteredClassLoader(DocumentPostProcessor.class))
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .contains("'reranker'")
                        .contains("DocumentPostProcessor"));
        configured
                .withClassLoader(new FilteredClassLoader("org.springframework.ai"))
                .run(context ->
                        assertThat(analysis(context.getStartupFailure())).contains("DocumentPostProcessor"));
    }

    @Test
    void reportsProgramOtherThanAReranker() {
        configured
                .withPropertyValues(SmallEncoder.properties())
                .withPropertyValues("iree.ai.reranker.module=encoder", "iree.ai.reranker.inputs=")
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .contains("Module 'encoder' of 'iree.ai.reranker.module' cannot rerank texts")
                        .contains("expected a number for each text"));
    }

    @Test
    void reportsPropertyOutOfRange() {
        configured
                .withPropertyValues("iree.ai.reranker.activation=softmax")
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("iree.ai.reranker"));
    }

    @Test
    void moduleLoadedLaterIsCheckedThen() {
        configured
                .withPropertyValues("iree.ai.reranker.module=later")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void tokenizerIsClosedWithTheContext() {
        HuggingFaceTextTokenizer[] kept = new HuggingFaceTextTokenizer[1];
        configured.run(context -> kept[0] = context.getBean(HuggingFaceTextTokenizer.class));
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> kept[0].tokenizePair("a", "b")))
                .hasMessageContaining("is closed");
    }

    private static String analysis(Throwable failure) {
        FailureAnalysis analysis = new TextModelUnavailableFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("analysis of " + failure).isNotNull();
        assertThat(analysis.getAction()).endsWith(".");
        return analysis.getDescription();
    }
}
