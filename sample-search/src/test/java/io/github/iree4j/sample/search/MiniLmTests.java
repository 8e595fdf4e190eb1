package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.SimpleVectorStore.EmbeddingMath;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The application with the model made by bin/prepare-model; {@code -Diree4j.model.minilm=DIRECTORY} is the folder of
 * the model.
 */
@Tag("nightly")
@Timeout(600)
class MiniLmTests {

    private static final Path DIRECTORY = Path.of(System.getProperty(
            "iree4j.model.minilm", System.getProperty("user.home") + "/.cache/iree4j/models/minilm"));

    private static ConfigurableApplicationContext start() {
        assumeTrue(
                Files.exists(DIRECTORY.resolve("application.yaml")),
                () -> "there is no model in %s; run bin/prepare-model minilm".formatted(DIRECTORY));
        return new SpringApplicationBuilder(SearchApplication.class)
                .web(WebApplicationType.SERVLET)
                .run("--search.model=" + DIRECTORY, "--server.port=0");
    }

    /** Numbers of the model's own framework. */
    @Test
    void similaritiesMatchThePublishedNumbers() {
        try (ConfigurableApplicationContext context = start()) {
            EmbeddingModel model = context.getBean(EmbeddingModel.class);
            assertThat(model.dimensions()).isEqualTo(384);
            String eats = "A man is eating food.";
            List<String> others = List.of("A man is eating a piece of bread.", "The girl is carrying a baby.", eats);
            List<Double> expected = List.of(0.7553, -0.1050, 1.0);
            float[] first = model.embed(eats);
            List<float[]> together = model.embed(others);
            for (int i = 0; i < others.size(); i++) {
                assertThat(EmbeddingMath.cosineSimilarity(first, together.get(i)))
                        .as(others.get(i))
                        .isCloseTo(expected.get(i), within(1e-4));
                assertThat(EmbeddingMath.cosineSimilarity(first, model.embed(others.get(i))))
                        .as("%s, alone", others.get(i))
                        .isCloseTo(expected.get(i), within(1e-4));
            }
        }
    }

    /** With programs for some shapes, too: bin/prepare-model minilm --variants. */
    @Test
    void batchedTextsMatchIndividualTexts() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            EmbeddingModel model = context.getBean(EmbeddingModel.class);
            List<String> texts = new ArrayList<>();
            for (int words = 1; words < 300; words += 7) {
                texts.add("A man is eating. ".repeat(words / 5) + "Food ".repeat(1 + words % 5));
            }
            List<float[]> together = model.embed(texts);
            for (int i = 0; i < texts.size(); i += 5) {
                assertThat(EmbeddingMath.cosineSimilarity(together.get(i), model.embed(texts.get(i))))
                        .as(texts.get(i))
                        .isCloseTo(1, within(1e-5));
            }
            if (Files.readString(DIRECTORY.resolve("application.yaml")).contains("variants:")) {
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(meters.find("iree.variant.calls").counters())
                        .filteredOn(each -> each.count() > 0)
                        .as("functions that were called")
                        .hasSizeGreaterThan(2);
            }
        }
    }
}
