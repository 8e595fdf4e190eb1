package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.document.Document;
import org.springframework.ai.rag.Query;
import org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The contract of Spring AI's interface, with a real program with its kernels and parameters. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@Timeout(900)
class RerankerContractTests {

    private static final List<String> TEXTS = List.of(
            "Pools have budgets: above it, work waits in line.",
            "Calls that come close together become one.",
            "workers",
            "A timeline is a counter that only grows. A fence is a point on it.");

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Autowired
    private DocumentPostProcessor processor;

    @Autowired
    private IreeReranker reranker;

    @Autowired
    private Programs programs;

    @DynamicPropertySource
    static void reranker(DynamicPropertyRegistry registry) {
        for (String property : SmallEncoder.rerankerProperties()) {
            String[] parts = property.split("=", 2);
            registry.add(parts[0], () -> parts[1]);
        }
    }

    @Test
    void theMostRelevantDocumentComesFirst() {
        List<Document> documents = TEXTS.stream().map(Document::new).toList();
        for (String query : List.of("budget of a pool", "workers", "timelines and fences")) {
            List<Document> sorted = processor.process(new Query(query), documents);
            assertThat(sorted).containsExactlyInAnyOrderElementsOf(processor.apply(new Query(query), documents));
            assertThat(sorted).extracting(Document::getText).containsExactlyInAnyOrderElementsOf(TEXTS);
            assertThat(sorted.getFirst().getText())
                    .as(query)
                    .isEqualTo(TEXTS.get(List.of("b", "", "w", "t").indexOf(query.substring(0, 1))));
        }
    }

    @Test
    void aTextIsMostRelevantForItself() {
        for (String text : TEXTS) {
            assertThat(reranker.scores(text, List.of(text)).getFirst()).isCloseTo(1, within(1e-5));
        }
        assertThat(reranker.scores("workers", List.of("fence")).getFirst()).isBetween(0.0, 0.5);
        assertThat(reranker.scores("?!", List.of("fence")).getFirst())
                .as("without tokens of the query")
                .isZero();
    }

    @Test
    void aTextHasTheSameScoreAloneAndAmongOthers() {
        long seed = Long.getLong("iree4j.test.seed", 31);
        System.out.println("random: texts to rerank, seed " + seed);
        Random random = new Random(seed);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            texts.add(TEXTS.get(random.nextInt(4)).repeat(1 + random.nextInt(3)) + " number " + i);
        }
        List<Double> together = reranker.scores("budget of a timeline", texts);
        for (int i = 0; i < texts.size(); i++) {
            assertThat(together.get(i))
                    .as(texts.get(i))
                    .isCloseTo(
                            reranker.scores("budget of a timeline", List.of(texts.get(i)))
                                    .getFirst(),
                            within(1e-6));
        }
    }

    @Test
    void anyTextIsScoredOrRejectedAndLeavesNothingOpen(@Autowired IreeRuntime runtime) {
        long seed = Long.getLong("iree4j.test.seed", 37);
        System.out.println("random: texts of any kind to rerank, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 100; round++) {
            try {
                assertThat(reranker.scores(any(random), List.of(any(random), any(random))))
                        .allSatisfy(score -> assertThat(score).isBetween(-1e-5, 1 + 1e-5));
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("has no tokens");
            }
        }
        assertThat(programs.activeCalls()).isZero();
        IreeAssertions.assertThat(runtime).hasNoOpenTensors();
    }

    private static String any(Random random) {
        int length = random.nextInt(random.nextInt(10) == 0 ? 3000 : 40);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) (random.nextBoolean() ? ' ' + random.nextInt(95) : random.nextInt(65536)));
        }
        return text.toString();
    }

    @Test
    void concurrentRequestsReceiveTheirOwnScores() throws Exception {
        List<Double> expected = reranker.scores("budget", TEXTS);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<Double>>> futures = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                futures.add(threads.submit(() -> reranker.scores("budget", TEXTS)));
            }
            for (Future<List<Double>> future : futures) {
                assertThat(future.get()).isEqualTo(expected);
            }
        }
    }
}
