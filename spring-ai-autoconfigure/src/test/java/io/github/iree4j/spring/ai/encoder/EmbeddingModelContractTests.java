package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.test.IreeAssertions;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.BatchingStrategy;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.TokenCountBatchingStrategy;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The contract of Spring AI's interfaces, with a real program with its kernels and parameters. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@Timeout(900)
class EmbeddingModelContractTests {

    private static final List<String> TEXTS = List.of(
            "Pools have budgets: above it, work waits in line.",
            "Calls that come close together become one.",
            "workers",
            "A timeline is a counter that only grows. A fence is a point on it.");

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Autowired
    private EmbeddingModel model;

    @Autowired
    private Programs programs;

    @DynamicPropertySource
    static void encoder(DynamicPropertyRegistry registry) {
        for (String property : SmallEncoder.properties()) {
            String[] parts = property.split("=", 2);
            registry.add(parts[0], () -> parts[1]);
        }
    }

    @Test
    void allWaysToEmbedATextAgree() {
        float[] expected = model.embed(TEXTS.getFirst());
        assertThat(model.embed(List.of(TEXTS.getFirst()))).singleElement().isEqualTo(expected);
        assertThat(model.embed(new Document(TEXTS.getFirst()))).isEqualTo(expected);
        assertThat(model.embedForResponse(List.of(TEXTS.getFirst())).getResult().getOutput())
                .isEqualTo(expected);
        assertThat(model.call(new EmbeddingRequest(List.of(TEXTS.getFirst()), null))
                        .getResult()
                        .getOutput())
                .as("requests without options")
                .isEqualTo(expected);
        assertThat(model.embed(List.of(new Document(TEXTS.getFirst())), null, List::of))
                .singleElement()
                .isEqualTo(expected);
    }

    @Test
    void aTextHasTheSameEmbeddingAloneAndAmongOthers() {
        List<float[]> together = model.embed(TEXTS);
        for (int i = 0; i < TEXTS.size(); i++) {
            float[] alone = model.embed(TEXTS.get(i));
            assertThat(alone).hasSize(model.dimensions());
            for (int k = 0; k < alone.length; k++) {
                assertThat(together.get(i)[k]).isCloseTo(alone[k], within(1e-6f));
            }
        }
    }

    @Test
    void embeddingsDoNotDependOnOrderOrBatchSize() {
        float[] one = model.embed("fence");
        float[] sum = model.embed("fence fence fence");
        assertThat(cosine(one, sum))
                .as("the encoder knows no order and no number")
                .isCloseTo(1, within(1e-6));
        assertThat(cosine(one, one)).isCloseTo(1, within(1e-6));
        assertThat(cosine(one, model.embed("budget"))).isLessThan(0.9);
    }

    @Test
    void documentsKeepTheirOrderUnderAnyBatchingStrategy() {
        List<Document> documents = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            documents.add(new Document(TEXTS.get(i % TEXTS.size()) + " number " + i));
        }
        BatchingStrategy byThree = all -> IntStream.iterate(0, from -> from < all.size(), from -> from + 3)
                .mapToObj(from -> all.subList(from, Math.min(from + 3, all.size())))
                .toList();
        List<float[]> strategies =
                model.embed(documents, EmbeddingOptions.builder().build(), byThree);
        List<float[]> tokens = model.embed(documents, null, new TokenCountBatchingStrategy());
        assertThat(strategies).hasSize(40);
        for (int i = 0; i < 40; i++) {
            float[] expected = model.embed(documents.get(i));
            assertThat(cosine(strategies.get(i), expected)).isCloseTo(1, within(1e-6));
            assertThat(cosine(tokens.get(i), expected)).isCloseTo(1, within(1e-6));
        }
    }

    @Test
    void responsesHaveModelUsageAndIndices() {
        EmbeddingResponse response = model.embedForResponse(TEXTS);
        assertThat(response.getMetadata().getModel()).isEqualTo("encoder");
        assertThat(response.getMetadata().getUsage().getPromptTokens()).isGreaterThan(25);
        assertThat(response.getMetadata().getUsage().getCompletionTokens()).isZero();
        assertThat(response.getResults()).extracting(Embedding::getIndex).containsExactly(0, 1, 2, 3);
    }

    @Test
    void rejectsNulls() {
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> model.embed((String) null));
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> model.embed((Document) null));
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> model.embed((List<String>) null));
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> model.call(null));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> model.call(new EmbeddingRequest(null, null)));
    }

    @Test
    void vectorStoreFindsSimilarDocuments() {
        SimpleVectorStore store = SimpleVectorStore.builder(model).build();
        store.add(TEXTS.stream().map(Document::new).toList());
        assertThat(store.similaritySearch(SearchRequest.builder()
                        .query("memory budget of a pool")
                        .topK(2)
                        .build()))
                .hasSize(2)
                .first()
                .satisfies(document -> {
                    assertThat(document.getText()).isEqualTo(TEXTS.getFirst());
                    assertThat(document.getScore()).isBetween(0.3, 1.0);
                });
        assertThat(store.similaritySearch(SearchRequest.builder()
                        .query(TEXTS.get(3))
                        .similarityThreshold(0.99)
                        .build()))
                .singleElement()
                .extracting(Document::getText)
                .isEqualTo(TEXTS.get(3));
    }

    @Test
    void anyTextIsEmbeddedOrRejectedAndLeavesNothingOpen(@Autowired IreeRuntime runtime) {
        long seed = Long.getLong("iree4j.test.seed", 11);
        System.out.println("random: texts, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int length = random.nextInt(random.nextInt(10) == 0 ? 3000 : 40);
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < length; i++) {
                text.append((char) (random.nextBoolean() ? ' ' + random.nextInt(95) : random.nextInt(65536)));
            }
            try {
                float[] vector = model.embed(text.toString());
                assertThat(cosine(vector, vector)).isCloseTo(1, within(1e-5));
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("has no tokens");
            }
        }
        assertThat(programs.activeCalls()).isZero();
        IreeAssertions.assertThat(runtime).hasNoOpenTensors();
    }

    @Test
    void concurrentRequestsReceiveTheirOwnEmbeddings() throws Exception {
        List<float[]> expected = model.embed(TEXTS);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<double[]>> futures = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                futures.add(threads.submit(() -> {
                    List<float[]> own = model.embed(TEXTS);
                    return IntStream.range(0, TEXTS.size())
                            .mapToDouble(each -> cosine(own.get(each), expected.get(each)))
                            .toArray();
                }));
            }
            for (Future<double[]> future : futures) {
                for (double cosine : future.get()) {
                    assertThat(cosine).isCloseTo(1, within(1e-6));
                }
            }
        }
    }

    private static double cosine(float[] a, float[] b) {
        return SimpleVectorStore.EmbeddingMath.cosineSimilarity(a, b);
    }
}
