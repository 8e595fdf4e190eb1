package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.observation.conventions.AiOperationType;
import reactor.core.Disposable;

/** Subscribers that leave a generator. */
@Timeout(900)
class ChatCancellationTests {
    @TempDir
    private Path folder;

    /** Passes requests on, and records how they end. */
    private record Recorded(TokenSource source, AtomicInteger tokens, List<CompletableFuture<StatusCode>> ends)
            implements TokenSource {
        @Override
        public void check(int size) {
            source.check(size);
        }

        @Override
        public int maximumTokens() {
            return source.maximumTokens();
        }

        @Override
        public void close() {
            source.close();
        }

        @Override
        public Tokens submit(GenerationRequest request, AiOperationType operation) {
            Tokens running = source.submit(request, operation);
            CompletableFuture<StatusCode> end = new CompletableFuture<>();
            ends.add(end);
            return new Tokens() {
                @Override
                public boolean await(Duration limit) throws InterruptedException {
                    return running.await(limit);
                }

                @Override
                public OptionalInt next() throws InterruptedException {
                    try {
                        OptionalInt token = running.next();
                        if (token.isPresent()) {
                            tokens.incrementAndGet();
                        } else {
                            end.complete(StatusCode.OK);
                        }
                        return token;
                    } catch (IreeException e) {
                        end.complete(e.code());
                        throw e;
                    }
                }

                @Override
                public FinishReason reason() {
                    return running.reason();
                }

                @Override
                public int sharedTokens() {
                    return running.sharedTokens();
                }

                @Override
                public LogProbabilities logProbabilities(int index) {
                    return running.logProbabilities(index);
                }

                @Override
                public void cancel() {
                    running.cancel();
                }
            };
        }
    }

    @Test
    void requestsEndWhenTheirSubscribersLeave() {
        SmallDecoder.runner(folder).run(context -> {
            ChatSettings settings = SmallDecoder.settings(folder)
                    .stopTokens(List.of("<|begin|>"))
                    .build();
            Recorded source = new Recorded(
                    new GeneratorSource(context.getBean(Programs.class), settings),
                    new AtomicInteger(),
                    new ArrayList<>());
            try (IreeChatModel model = new IreeChatModel(source, settings, ObservationRegistry.NOOP, null)) {
                Prompt endless =
                        new Prompt("Hello", ChatOptions.builder().maxTokens(900).build());
                for (int i = 0; i < 10; i++) { // each would take nearly all pages
                    assertThat(model.stream(endless).take(1).blockLast()).isNotNull();
                    assertThat(source.ends.getLast().join()).isEqualTo(StatusCode.CANCELLED);
                }
                assertThat(source.tokens).hasValueLessThan(10 * 900);
                assertThat(model.call(endless).getMetadata().getUsage().getCompletionTokens())
                        .isPositive();
            }
        });
    }

    @Test
    void aRequestEndsWhenItsSubscriberLeavesBeforeTheFirstToken() {
        SmallDecoder.runner(folder).run(context -> {
            QueuedChat chat = new QueuedChat(context.getBean(Programs.class), folder);
            try (IreeChatModel model = chat.model()) {
                chat.hold();
                Disposable subscriber = model.stream(new Prompt("Hello")).subscribe();
                chat.awaitRequest();
                subscriber.dispose();
                assertThat(chat.awaitEnd()).containsInstanceOf(CancellationException.class);
                chat.release();
                assertThat(model.call("Hello")).isNotEmpty();
            }
        });
    }
}
