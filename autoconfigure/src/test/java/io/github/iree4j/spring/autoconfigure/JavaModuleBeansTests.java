package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.vm.VmModule;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;

/** Beans as modules for imports of programs. */
class JavaModuleBeansTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner bare =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class));

    private static final AtomicInteger MADE = new AtomicInteger();
    private static final AtomicInteger CLOSED = new AtomicInteger();

    @BeforeEach
    void none() {
        MADE.set(0);
        CLOSED.set(0);
    }

    private ApplicationContextRunner runner() throws Exception {
        return bare.withPropertyValues("iree.modules.doubling.location=" + TestModules.doubling(directory));
    }

    private static int fourfold(InvocationService invocations, int value) {
        try (Results results = invocations.invoke("doubling.fourfold", value)) {
            return results.intValue(0);
        }
    }

    @Test
    void aProgramImportsFromABean() throws Exception {
        runner().withUserConfiguration(Singleton.class).run(context -> {
            assertThat(fourfold(context.getBean(InvocationService.class), 10)).isEqualTo(40);
            assertThat(context.getBean(Doubler.class).calls.get()).isEqualTo(2);
            Path again = TestModules.doubling(directory);
            context.getBean(Programs.class).load(ProgramSource.of("other", again.toString()));
            try (Results results = context.getBean(InvocationService.class).invoke("other.fourfold", 1)) {
                assertThat(results.intValue(0)).isEqualTo(4); // also in programs without configuration by properties
            }
            assertThat(MADE).hasValue(1);
            context.getBean(Programs.class).unload("other");
            assertThat(CLOSED).as("by programs come and gone").hasValue(0);
        });
        assertThat(CLOSED).as("with the application").hasValue(1);
    }

    @Test
    void programsWithoutTheImportDoNotCreateTheBean() throws Exception {
        bare.withUserConfiguration(LazySingleton.class)
                .withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory))
                .run(context -> {
                    context.getBean(InvocationService.class)
                            .invoke("adder.add", 1, 2)
                            .close();
                    assertThat(context.getBean(Programs.class)
                                    .find("adder")
                                    .orElseThrow()
                                    .program()
                                    .monitor()
                                    .modules())
                            .extracting(VmModule::name)
                            .containsExactly("adder");
                    assertThat(MADE).hasValue(0);
                });
    }

    @Test
    void eachContextHasASeparatePrototype() throws Exception {
        runner().withUserConfiguration(Prototype.class)
                .withPropertyValues("iree.modules.doubling.contexts=3")
                .run(context -> {
                    assertThat(fourfold(context.getBean(InvocationService.class), 1))
                            .isEqualTo(4);
                    assertThat(MADE).hasValue(3);
                    context.getBean(Programs.class).unload("doubling");
                    assertThat(CLOSED).hasValue(3);
                });
    }

    @Test
    void aModuleMayCallProgramsItself() throws Exception {
        runner().withUserConfiguration(Calling.class)
                .withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory))
                .run(context -> assertThat(fourfold(context.getBean(InvocationService.class), 3))
                        .isEqualTo(12));
    }

    @Test
    void failureForAMissingModuleNamesTheImport() throws Exception {
        runner().run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("custom.twice"));
    }

    @Test
    void rejectsTwoBeansOfTheSameModule() throws Exception {
        runner().withUserConfiguration(Singleton.class, Twin.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("'doubler'")
                        .hasMessageContaining("'twin'")
                        .hasMessageContaining("'custom'"));
    }

    @IreeModule("custom")
    static class Doubler implements AutoCloseable {
        final AtomicInteger calls = new AtomicInteger();

        Doubler() {
            MADE.incrementAndGet();
        }

        @Export
        int twice(int value) {
            calls.incrementAndGet();
            return 2 * value;
        }

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Singleton {
        @Bean
        Doubler doubler() {
            return new Doubler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazySingleton {
        @Bean
        @Lazy
        Doubler doubler() {
            return new Doubler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Twin {
        @Bean
        Doubler twin() {
            return new Doubler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototype {
        @Bean
        @Scope("prototype")
        Doubler doubler() {
            return new Doubler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Calling {
        @Bean
        Adding adding(ObjectProvider<InvocationService> invocations) {
            return new Adding(invocations);
        }
    }

    /** Doubles with another program. */
    @IreeModule("custom")
    record Adding(ObjectProvider<InvocationService> invocations) {
        @Export
        int twice(int value) {
            try (Results results = invocations.getObject().invoke("adder.add", value, value)) {
                return results.intValue(0);
            }
        }
    }
}
