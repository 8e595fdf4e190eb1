package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.DeviceSource;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Devices, queues, pools and programs as beans, and their customizers. */
class IreeNamedBeansTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
            .withPropertyValues(
                    "iree.device=fast",
                    "iree.devices.fast.uri=local",
                    "iree.devices.slow.uri=local",
                    "iree.advanced.queues.copies.device=slow",
                    "iree.advanced.queues.copies.index=2",
                    "iree.advanced.queues.main.device=fast");

    @Test
    void devicesQueuesAndPoolsAreInjectedByName() {
        runner.withUserConfiguration(Injected.class).run(context -> {
            Injected.Parts parts = context.getBean(Injected.Parts.class);
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            assertThat(parts.slow()).isSameAs(runtime.device("slow"));
            assertThat(parts.unqualified()).isSameAs(runtime.device("fast"));
            assertThat(parts.copies()).isSameAs(runtime.device("slow").queue(2));
            assertThat(parts.pool()).isSameAs(runtime.device("slow").allocator());
        });
    }

    /** As made by Lombok: the parameters of the constructor have no annotations. */
    record Unannotated(Program oneProgram, Program twoWordsProgram) {}

    @Test
    void namesOfParametersChooseAmongPrograms(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withBean(Unannotated.class)
                .withPropertyValues("iree.modules.one.location=" + adder, "iree.modules.two-words.location=" + adder)
                .run(context -> {
                    Unannotated injected = context.getBean(Unannotated.class);
                    Programs programs = context.getBean(Programs.class);
                    assertThat(injected.oneProgram)
                            .isSameAs(programs.find("one").orElseThrow().program());
                    assertThat(injected.twoWordsProgram)
                            .isSameAs(programs.find("two-words").orElseThrow().program());
                });
    }

    @Test
    void beansOfTheApplicationKeepTheirNames(@TempDir Path directory) throws Exception {
        runner.withBean("oneProgram", String.class, () -> "own")
                .withPropertyValues("iree.modules.one.location=" + TestModules.adder(directory))
                .run(context -> {
                    assertThat(context.getBean("oneProgram")).isEqualTo("own");
                    assertThat(context.getBean(Program.class).name()).isEqualTo("adder");
                });
    }

    @Test
    void beansDefinedLaterKeepTheirNames(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withConfiguration(AutoConfigurations.of(Later.class))
                .withPropertyValues("iree.modules.one.location=" + adder, "iree.modules.two.location=" + adder)
                .run(context -> {
                    assertThat(context.getBean("oneProgram")).isEqualTo("of an auto-configuration");
                    assertThat(context.getBean("twoProgram")).isEqualTo("of a post-processor");
                    assertThat(context.getBean("iree.modules.two")).isInstanceOf(Program.class);
                });
    }

    @Test
    void namesOfParametersKeepLettersOfEveryScript(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues("iree.modules[größe].location=" + adder, "iree.modules[模型].location=" + adder)
                .run(context -> {
                    assertThat(context.getAliases("iree.modules.größe")).containsExactly("größeProgram");
                    assertThat(context.getAliases("iree.modules.模型")).containsExactly("模型Program");
                });
    }

    @Test
    void ambiguousNamesOfParametersChooseNoProgram(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues(
                        "iree.modules.mini-lm.location=" + adder,
                        "iree.modules[mini.lm].location=" + adder,
                        "iree.modules[_].location=" + adder)
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean("miniLmProgram");
                    assertThat(context.getAliases("iree.modules._")).isEmpty();
                });
    }

    @Test
    void programsAreInjectedByNameAndLoadedLazily(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues(
                        "iree.modules.one.location=" + adder,
                        "iree.modules.two.location=" + adder,
                        "iree.modules.two.load=lazy")
                .run(context -> {
                    assertThat(context.getBean(Programs.class).find("two")).isEmpty();
                    Program two = context.getBean("iree.modules.two", Program.class);
                    assertThat(context.getBean(Programs.class)
                                    .find("two")
                                    .orElseThrow()
                                    .program())
                            .isSameAs(two);
                    assertThat(context.getBean("iree.modules.one")).isNotSameAs(two);
                });
    }

    @Test
    void injectedProgramsFollowTheirReplacement(@TempDir Path directory) throws Exception {
        runner.withUserConfiguration(Holder.class)
                .withPropertyValues(
                        "iree.modules.one.location=" + TestModules.adder(directory), "iree.modules.one.contexts=2")
                .run(context -> {
                    Holder holder = context.getBean(Holder.class);
                    Programs programs = context.getBean(Programs.class);
                    assertThat(holder.sum()).isEqualTo(42);
                    programs.load("one", null);
                    assertThat(holder.program.isClosed()).isTrue();
                    assertThat(holder.sum()).isEqualTo(42);
                    assertThat(holder.provider.getObject()).isNotSameAs(holder.program);
                    programs.unload("one", null);
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(holder::sum)
                            .withMessageContaining("program 'one' was unloaded");
                    programs.load("one", null);
                    assertThat(holder.sum()).isEqualTo(42);
                });
    }

    /** Holds a program in each possible way. */
    static final class Holder {
        private final Program program;
        private final ProgramFunction add;
        private final ObjectProvider<Program> provider;

        Holder(@Qualifier("one") Program program, @Qualifier("one") ObjectProvider<Program> provider) {
            this.program = program;
            this.add = program.function("add");
            this.provider = provider;
        }

        private int sum() {
            try (Results one = program.function("add").invoke(20, 2);
                    Results two = add.invoke(10, 4);
                    Results three = provider.getObject().function("add").invoke(1, 5)) {
                return one.intValue(0) + two.intValue(0) + three.intValue(0);
            }
        }
    }

    @Test
    void namedBeanBacksOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnPool.class)
                .run(context -> assertThat(context.getBean("iree.pools.slow", Allocator.class))
                        .isSameAs(context.getBean(IreeRuntime.class)
                                .device("fast")
                                .allocator()));
    }

    @Test
    void namedBeansAreNotClosedByTheContext(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        List<Device> devices = new ArrayList<>();
        runner.withUserConfiguration(OwnRuntime.class)
                .withPropertyValues("iree.modules.one.location=" + adder)
                .run(context -> devices.add(context.getBean("iree.devices.fast", Device.class)));
        assertThat(devices.getFirst().failure()).isEmpty(); // the user's runtime outlives the context
        OwnRuntime.RUNTIME.close();
    }

    @Test
    void domainAndEventsBackOff() {
        runner.withUserConfiguration(OwnParts.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(SchedulingDomain.class)
                        .hasSingleBean(IreeEvents.class)
                        .hasBean("myDomain")
                        .hasBean("myEvents"));
    }

    @Test
    void customizersApplyToDevicesPoolsAndModulesInOrder(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withUserConfiguration(Customizers.class)
                .withPropertyValues("iree.modules.one.location=" + adder, "iree.pools.slow.budget=1GB")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    assertThat(runtime.device("fast").queueCount()).isEqualTo(5);
                    assertThat(runtime.device("slow").queueCount()).isEqualTo(5);
                    assertThat(runtime.device("slow")
                                    .allocator()
                                    .poolStatistics()
                                    .budget())
                            .isEqualTo(64 << 20);
                    assertThat(context.getBean(Customizers.class).called)
                            .containsExactly("device fast", "pool fast", "device slow", "pool slow", "module one");
                });
    }

    @Test
    void poolsFormatsAndFrontiersComeFromProperties() {
        List<DeviceSource> sources = new ArrayList<>();
        runner.withBean(IreeRuntimeCustomizer.class, () -> builder -> sources.addAll(builder.devices()))
                .withPropertyValues(
                        "iree.modules.digits.location=digits.vmfb",
                        "iree.modules.digits.load=lazy",
                        "iree.pools.slow.budget=64MB",
                        "iree.pools.slow.quotas.digits=1MB",
                        "iree.advanced.pools.slow.trim.idle-after=5s",
                        "iree.advanced.pools.slow.trim.retained=0",
                        "iree.executables.allowed-formats=vmvx-bytecode-fb",
                        "iree.advanced.frontier.capacity=20",
                        "iree.advanced.devices.fast.inline-work=0")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    DeviceOptions fast = sources.get(0).options();
                    DeviceOptions slow = sources.get(1).options();
                    assertThat(slow.memoryLimit()).isEqualTo(64 << 20);
                    assertThat(slow.memoryQuotas()).containsEntry("digits", 1L << 20);
                    assertThat(slow.memoryIdle()).hasSeconds(5);
                    assertThat(slow.memoryRetained()).isZero();
                    assertThat(fast.memoryLimit()).isZero();
                    assertThat(fast.driver(CpuOptions.DEFAULTS).inlineWork()).isZero();
                    assertThat(fast.schedulingDomain()).isSameAs(slow.schedulingDomain());
                    assertThat(fast.schedulingDomain().frontierCapacity()).isEqualTo(20);
                    assertThat(runtime.device().executableFormats()).containsExactly("vmvx-bytecode-fb");
                });
    }

    @Test
    void quotaAppliesToTheProgramOfItsName() {
        String add = TestModules.fixture("3.11.0/cpu/add.vmfb").toString();
        runner.withPropertyValues(
                        "iree.modules.poor.location=" + add,
                        "iree.modules.rich.location=" + add,
                        "iree.pools.fast.quotas.poor=8B")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    float[] four = {1, 2, 3, 4};
                    try (Results results = invocations.invoke("rich.add", four, four)) {
                        assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
                    }
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> invocations.invoke("poor.add", four, four))
                            .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                            .withMessageContaining("the quota of device 'fast' is 8 bytes");
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Injected {
        record Parts(Device unqualified, Device slow, DeviceQueue copies, Allocator pool) {}

        @Bean
        Parts parts(
                Device unqualified,
                @Qualifier("slow") Device slow,
                @Qualifier("copies") DeviceQueue copies,
                @Qualifier("slow") Allocator pool) {
            return new Parts(unqualified, slow, copies, pool);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {
        @Bean(name = "iree.pools.slow", destroyMethod = "")
        Allocator pool(IreeRuntime runtime) {
            return runtime.device("fast").allocator();
        }
    }

    @AutoConfiguration(after = IreeAutoConfiguration.class)
    static class Later {
        @Bean
        String oneProgram() {
            return "of an auto-configuration";
        }

        @Bean
        static BeanDefinitionRegistryPostProcessor registering() {
            return registry -> registry.registerBeanDefinition(
                    "twoProgram", new RootBeanDefinition(String.class, () -> "of a post-processor"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnRuntime {
        static final IreeRuntime RUNTIME = IreeRuntime.builder()
                .device("fast", "local", DeviceOptions.DEFAULTS)
                .build();

        @Bean(destroyMethod = "")
        IreeRuntime myRuntime() {
            return RUNTIME;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnParts {
        @Bean
        SchedulingDomain myDomain() {
            return SchedulingDomain.ofProcess();
        }

        @Bean
        IreeEvents myEvents() {
            return new IreeEvents();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Customizers {
        final List<String> called = new ArrayList<>();

        @Bean
        @Order(0)
        IreeDeviceCustomizer devices() {
            return (name, options) -> {
                called.add("device " + name);
                options.queueCount(5);
            };
        }

        @Bean
        @Order(1)
        IreeDeviceCustomizer pools() {
            return (device, options) -> {
                called.add("pool " + device);
                options.memoryLimit(1 << 30);
            };
        }

        @Bean
        @Order(2)
        IreeDeviceCustomizer smallPools() {
            return (device, options) -> options.memoryLimit(64 << 20);
        }

        @Bean
        IreeModuleCustomizer modules() {
            return (name, options) -> called.add("module " + name);
        }
    }
}
