package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.SimpleVectorStore.EmbeddingMath;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The application with the model that bin/prepare-model makes; {@code -Diree4j.model.minilm=DIRECTORY} says where it is. */
@Tag("nightly")
@Timeout(600)
class MiniLmTests {

    private static final Path DIRECTORY = Path.of(System.getProperty(
            "iree4j.model.minilm", System.getProperty("user.home") + "/.cache/iree4j/models/minilm"));

    /** Numbers of the model's own framework. */
    @Test
    void sentencesAreAsNearAsTheModelsMakersSay() throws Exception {
        assumeTrue(
                Files.exists(DIRECTORY.resolve("application.yaml")),
                () -> "there is no model in %s; run bin/prepare-model minilm".formatted(DIRECTORY));
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(SearchApplication.class)
                .web(WebApplicationType.SERVLET)
                .run("--search.model=" + DIRECTORY, "--server.port=0")) {
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
}
