package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application that stops while it embeds texts, with a program with kernels and parameters. */
@Timeout(900)
class EmbeddingShutdownTests {

    private static final Set<StatusCode> EXPECTED =
            Set.of(StatusCode.UNAVAILABLE, StatusCode.CANCELLED, StatusCode.FAILED_PRECONDITION, StatusCode.NOT_FOUND);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void requestsInFlightEndWithEmbeddingsOrAStatus() throws Exception {
        String[] arguments =
                Stream.of(SmallEncoder.properties()).map(each -> "--" + each).toArray(String[]::new);
        List<String> texts =
                Stream.iterate("workers", text -> text + " budget").limit(40).toList();
        for (int round = 0; round < 3; round++) {
            CountDownLatch begun = new CountDownLatch(4);
            List<Future<IreeException>> requests = new ArrayList<>();
            try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
                try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                        .web(WebApplicationType.NONE)
                        .run(arguments)) {
                    EmbeddingModel model = context.getBean(EmbeddingModel.class);
                    for (int i = 0; i < 4; i++) {
                        requests.add(threads.submit(() -> {
                            while (true) {
                                try {
                                    assertThat(model.embed(texts)).hasSize(40).doesNotContainNull();
                                    begun.countDown();
                                } catch (IreeException e) {
                                    return e;
                                }
                            }
                        }));
                    }
                    begun.await();
                }
                for (Future<IreeException> request : requests) {
                    assertThat(EXPECTED).contains(request.get().code());
                }
            }
        }
    }
}
