package io.github.iree4j.spring.test;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.batching.BatchTimer;
import io.github.iree4j.spring.client.IreeClientFactory;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/** The runtime of tests with scripted programs; the programs of {@code iree.modules} are not loaded. */
@AutoConfiguration(before = IreeAutoConfiguration.class)
@ConditionalOnProperty(name = "iree.test.mode", havingValue = "FAKE")
@NotForApplications
public final class IreeTestAutoConfiguration {

    private static final AtomicLong DEVICES = new AtomicLong();

    /** For Spring. */
    IreeTestAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    VirtualClock ireeVirtualClock(Environment environment) {
        return environment.getProperty(
                                "iree.test.clock", AutoConfigureIree.Clock.class, AutoConfigureIree.Clock.AUTOMATIC)
                        == AutoConfigureIree.Clock.STEPPED
                ? VirtualClock.stepped()
                : VirtualClock.automatic();
    }

    @Bean
    @ConditionalOnMissingBean
    FakeHardware ireeFakeHardware(VirtualClock clock) {
        return new FakeHardware(clock);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    IreeRuntime ireeRuntime(FakeHardware hardware) {
        String id = "test-" + DEVICES.incrementAndGet();
        VirtualDriverProvider.prepare(id, hardware);
        return IreeRuntime.builder().device("virtual://" + id).traceLeaks(true).build();
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Programs ireePrograms(IreeRuntime runtime, ResourceLoader resources) {
        return new Programs(runtime, resources);
    }

    @Bean
    @ConditionalOnMissingBean
    FakePrograms ireeFakePrograms(IreeRuntime runtime, Programs programs, FakeHardware hardware) {
        return new FakePrograms(runtime, programs, hardware);
    }

    /** Clients are created before a test scripts their programs, possibly with some of the functions: checks nothing. */
    @Bean
    @ConditionalOnMissingBean
    IreeClientFactory ireeClientFactory(InvocationOperations invocations, ConfigurableBeanFactory beans) {
        return new IreeClientFactory(invocations, new EmbeddedValueResolver(beans), null);
    }

    /** Batches wait on the clock of the device, callers in real time. */
    @Bean
    @ConditionalOnMissingBean
    BatchTimer ireeBatchTimer(VirtualClock clock) {
        return new BatchTimer() {
            @Override
            public long nanoTime() {
                return clock.now();
            }

            @Override
            public Runnable schedule(long nanos, Runnable action) {
                return clock.schedule(nanos, action);
            }

            @Override
            public Runnable deadline(long nanos, Runnable action) {
                return BatchTimer.system().deadline(nanos, action);
            }
        };
    }
}
