package io.github.iree4j.spring.autoconfigure.reactive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.reactive.ReactiveInvocationService;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

@Timeout(900)
class IreeReactiveAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeReactiveAutoConfiguration.class));

    private ApplicationContextRunner adder() throws Exception {
        return runner.withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory));
    }

    @Test
    void worksWithoutReactor() {
        runner.withClassLoader(new FilteredClassLoader(Mono.class))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(InvocationService.class)
                        .doesNotHaveBean(ReactiveInvocationService.class));
    }

    @Test
    void eachSubscriptionIsACall() throws Exception {
        adder().run(context -> {
            ReactiveInvocationService invocations = context.getBean(ReactiveInvocationService.class);
            Mono<Integer> sum = invocations.invoke("adder.add", results -> results.intValue(0), 1, 2);
            assertThat(sum.block()).isEqualTo(3);
            assertThat(sum.block()).isEqualTo(3);
        });
    }

    @Test
    void callsTheStubOfAnApplication() {
        InvocationOperations stub = mock(InvocationOperations.class);
        IreeException answer = IreeException.of(StatusCode.UNAVAILABLE, "says the stub");
        when(stub.invokeAsync("any.function")).thenThrow(answer);
        runner.withBean(InvocationOperations.class, () -> stub).run(context -> {
            Mono<Results> call =
                    context.getBean(ReactiveInvocationService.class).invoke("any.function");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::block)
                    .withMessageContaining("says the stub");
        });
    }

    @Test
    void callsTheProgramsIfAnApplicationHasSeveralStubs() throws Exception {
        adder().withBean("one", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .withBean("two", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .run(context -> assertThat(context.getBean(ReactiveInvocationService.class)
                                .invoke("adder.add", results -> results.intValue(0), 1, 2)
                                .block())
                        .isEqualTo(3));
    }

    @Test
    void failuresAreStatuses() throws Exception {
        adder().run(context -> {
            Mono<Results> call =
                    context.getBean(ReactiveInvocationService.class).invoke("adder.refuse");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::block)
                    .withMessageContaining("not today");
        });
    }

    @Test
    void disposingCancelsTheCall() throws Exception {
        adder().run(context -> {
            try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline();
                    Timeline done = context.getBean(IreeRuntime.class).createTimeline()) {
                Disposable call = context.getBean(ReactiveInvocationService.class)
                        .invoke(context.getBean(InvocationService.class)
                                .request("adder.add")
                                .inputs(1, 2)
                                .after(timeline.at(1))
                                .signal(done.at(1)))
                        .subscribe();
                call.dispose();
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> done.await(1))
                        .extracting(IreeException::code)
                        .isEqualTo(StatusCode.CANCELLED);
                timeline.at(1).signal();
            }
        });
    }
}
