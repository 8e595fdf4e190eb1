package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.ai.encoder.Classification.Label;
import io.github.iree4j.spring.ai.encoder.IreeClassifier;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** With the encoder as a classifier of 128 labels. */
@Timeout(900)
class IreeClassifierAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeClassifierAutoConfiguration.class))
            .withPropertyValues(
                    "iree.modules.encoder.location=file:" + SmallEncoder.DIRECTORY.resolve("encoder.vmfb"),
                    "iree.modules.encoder.parameters.encoder=file:" + SmallEncoder.DIRECTORY.resolve("encoder.irpa"),
                    "iree.ai.classifier.tokenizer=file:" + SmallEncoder.DIRECTORY.resolve("tokenizer.json"));
    private final ApplicationContextRunner configured = bare.withPropertyValues("iree.ai.classifier.module=encoder");

    private static String labels(int count) {
        return IntStream.range(0, count).mapToObj(i -> "label " + i).collect(Collectors.joining(","));
    }

    @Test
    void moduleTokenizerAndLabelsConfigureAClassifier() {
        configured
                .withPropertyValues("iree.ai.classifier.labels=" + labels(SmallEncoder.DIMENSIONS))
                .run(context -> assertThat(context.getBean(IreeClassifier.class)
                                .classify("workers")
                                .labels())
                        .hasSize(SmallEncoder.DIMENSIONS)
                        .extracting(Label::probability)
                        .satisfies(all -> assertThat(all.stream()
                                        .mapToDouble(Double::doubleValue)
                                        .sum())
                                .isBetween(1 - 1e-9, 1 + 1e-9)));
    }

    @Test
    void labelsMayComeFromTheFileOfTheModel() throws Exception {
        Path config = Files.writeString(
                directory.resolve("config.json"),
                IntStream.range(0, SmallEncoder.DIMENSIONS)
                        .mapToObj(i -> "\"%d\": \"topic %d\"".formatted(i, i))
                        .collect(Collectors.joining(",", "{\"id2label\": {", "}}")));
        configured
                .withPropertyValues("iree.ai.classifier.config=file:" + config, "iree.ai.classifier.activation=sigmoid")
                .run(context -> assertThat(context.getBean(IreeClassifier.class)
                                .classify("workers")
                                .first()
                                .name())
                        .startsWith("topic "));
    }

    @Test
    void callsTheProgramIfAnApplicationHasSeveralStubs() {
        configured
                .withPropertyValues("iree.ai.classifier.labels=" + labels(SmallEncoder.DIMENSIONS))
                .withBean("one", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .withBean("two", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .run(context -> assertThat(context.getBean(IreeClassifier.class)
                                .classify("workers")
                                .labels())
                        .hasSize(SmallEncoder.DIMENSIONS));
    }

    @Test
    void absentWithoutModule() {
        bare.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IreeClassifier.class));
    }

    @Test
    void backsOffForAClassifierOfTheApplication() {
        configured
                .withBean(IreeClassifier.class, () -> null)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(IreeClassifier.class));
    }

    @Test
    void needsNoSpringAi() {
        configured
                .withPropertyValues("iree.ai.classifier.labels=" + labels(SmallEncoder.DIMENSIONS))
                .withClassLoader(new FilteredClassLoader("org.springframework.ai"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(IreeClassifier.class));
    }

    @Test
    void reportsMissingLabels() {
        configured.run(context -> assertThat(analysis(context.getStartupFailure()))
                .isEqualTo("Module 'encoder' is configured to classify texts, but has no labels."));
        configured
                .withPropertyValues("iree.ai.classifier.config=file:" + directory.resolve("none.json"))
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .contains("The labels of 'iree.ai.classifier.config' cannot be used")
                        .contains("does not exist"));
    }

    @Test
    void reportsAnotherNumberOfLabels() {
        configured
                .withPropertyValues("iree.ai.classifier.labels=" + labels(3))
                .run(context -> assertThat(analysis(context.getStartupFailure()))
                        .contains("cannot classify texts")
                        .contains("expected 3 numbers for each text, tensor<?x3xf32>"));
    }

    @Test
    void reportsPropertyOutOfRange() {
        configured
                .withPropertyValues("iree.ai.classifier.labels=same,same")
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("iree.ai.classifier"));
    }

    private static String analysis(Throwable failure) {
        FailureAnalysis analysis = new TextModelUnavailableFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("analysis of " + failure).isNotNull();
        assertThat(analysis.getAction()).endsWith(".");
        return analysis.getDescription();
    }
}
