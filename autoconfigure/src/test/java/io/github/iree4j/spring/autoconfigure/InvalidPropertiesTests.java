package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.spring.FakeCuda;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.batching.IreeBatchingAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.resilience.IreeResilienceAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.serving.IreeServingAutoConfiguration;
import io.github.iree4j.spring.serving.ValueRange;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** Properties with no effect or a wrong effect end the start, with the name of the property. */
@Timeout(900)
class InvalidPropertiesTests {

    private static final AutoConfigurations ALL = AutoConfigurations.of(
            IreeAutoConfiguration.class,
            IreeBatchingAutoConfiguration.class,
            IreeHttpAutoConfiguration.class,
            IreeResilienceAutoConfiguration.class,
            IreeServingAutoConfiguration.class);

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(ALL);

    private void assertInvalid(String property, String reason, String... values) {
        runner.withPropertyValues(values).run(context -> {
            assertThat(context).hasFailed();
            assertInvalid(context.getStartupFailure(), property, reason);
        });
    }

    private static void assertInvalid(Throwable failure, String property, String reason) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
            cause = cause.getCause();
        }
        assertThat(cause).as("in the causes of %s", failure).isNotNull();
        InvalidConfigurationPropertyValueException invalid = (InvalidConfigurationPropertyValueException) cause;
        assertThat(invalid.getName()).isEqualTo(property);
        assertThat(invalid.getReason()).contains(reason);
        assertThat(String.valueOf(invalid.getValue())).as("no record").doesNotContain("=");
    }

    @ParameterizedTest
    @CsvSource({
        "iree.invocation.timeout,           -1s,  It must not be negative; zero is for no limit",
        "iree.loading.timeout,              -1s,  It must not be negative; zero is for no limit",
        "iree.watchdog.after,               -1s,  It must not be negative",
        "iree.watchdog.interval,            -1s,  It must be positive",
        "iree.invocation.drain-timeout,     -1ms, It must not be negative",
        "iree.modules.adder.timeout,        -5s,  It must not be negative; zero is for no limit",
        "iree.modules.adder.contexts,       0,    must be within [1",
        "iree.modules.adder.version,        ' ',  must not be blank",
        "iree.modules.adder.sha256,         abc,  must have 64 hexadecimal digits",
        "iree.advanced.pools.local.waiting.limit,    -1s,  It is -1 s and must be within",
        "iree.advanced.pools.local.waiting.host,     -1s,  It is -1 s and must",
        "iree.advanced.pools.local.trim.idle-after,  -1s,  It is -1 s and must",
        "iree.advanced.pools.local.trim.retained,    -1B,  It is -1 and must",
        "iree.pools.local.budget,           0,    must not be zero",
        "iree.pools.local.quotas.adder,     -1B,  It is -1 and must",
        "iree.advanced.devices.local.inline-work,    -1us, must",
        "iree.advanced.devices.local.channel.count,  0, not within [1",
        "iree.advanced.devices.local.channel.count,  5000, 4096]",
        "iree.advanced.devices.local.queue-count,    -1,   must",
        "iree.advanced.queues.main.index,            -1,   It must not be negative",
        "iree.advanced.frontier.capacity,            0,    It must be within",
        "iree.task.workers,                 -1,   must"
    })
    void valueOutOfRangeNamesItsProperty(String property, String value, String reason) throws Exception {
        assertInvalid(
                property,
                reason,
                "iree.modules.adder.location=" + TestModules.adder(directory),
                property + "=" + value);
    }

    @ParameterizedTest
    @CsvSource({"max-size, 0", "max-delay, -1ms", "buckets, 64"})
    void batchingOutOfRangeNamesItsProperty(String property, String value) {
        assertInvalid(
                "iree.modules.add.batching." + property,
                "must",
                "iree.modules.add.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"),
                "iree.modules.add.batching.enabled=true",
                "iree.modules.add.batching." + property + "=" + value);
    }

    @Test
    void reloadOfChangedFilesWithoutTheWatchdogIsRejected() {
        assertInvalid(
                "iree.loading.on-change",
                "'iree.watchdog.enabled' is false",
                "iree.loading.on-change=reload",
                "iree.watchdog.enabled=false");
    }

    @Test
    @Timeout(120)
    void pipeIsRefusedAsAKeyAndAsARecording() throws Exception {
        Path pipe = directory.resolve("pipe");
        Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assumeTrue(process.waitFor() == 0, "no mkfifo");
        String reason = "'" + pipe + "' is a pipe (FIFO) and must be a regular file";
        assertInvalid("iree.integrity.public-key", reason, "iree.integrity.public-key=" + pipe.toUri());
        assertInvalid("iree.recorder.file", reason, "iree.recorder.enabled=true", "iree.recorder.file=" + pipe);
    }

    @Test
    void batchingOfAnUnsuitableProgramIsRejected() throws Exception {
        assertInvalid(
                "iree.modules.adder.batching.enabled",
                "None of the program's functions can be batched: calls of 'adder.add' cannot be batched: a value is i32; ",
                "iree.modules.adder.location=" + TestModules.adder(directory),
                "iree.modules.adder.batching.enabled=true");
    }

    @Test
    void batchingOfValuesOfUnknownTypeAsksForTheSignature() {
        assertInvalid(
                "iree.modules.imported.batching.enabled",
                "give the types with 'iree.modules.imported.functions.<function>.signature'",
                "iree.modules.imported.location=" + TestModules.fixture("3.13.0/vmvx/torch_classifier.vmfb"),
                "iree.modules.imported.batching.enabled=true");
    }

    @Test
    void lazyUnsuitableProgramIsRejectedAtItsLoad() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.load=lazy",
                        "iree.modules.adder.batching.enabled=true")
                .run(context -> {
                    Programs programs = context.getBean(Programs.class);
                    assertThatExceptionOfType(ProgramLoadException.class)
                            .isThrownBy(() -> programs.load("adder", null))
                            .satisfies(
                                    e -> assertInvalid(e, "iree.modules.adder.batching.enabled", "cannot be batched"));
                    assertThat(programs.statuses().getFirst().state()).isEqualTo(ProgramState.FAILED);
                    assertThat(programs.activeCalls()).isZero();
                });
    }

    @Test
    void unbatchableReplacementLeavesTheOldProgram() throws Exception {
        Path file = directory.resolve("model.vmfb");
        Files.copy(TestModules.fixture("3.11.0/cpu/add.vmfb"), file);
        runner.withPropertyValues("iree.modules.add.location=" + file, "iree.modules.add.batching.enabled=true")
                .run(context -> {
                    Programs programs = context.getBean(Programs.class);
                    Files.write(file, Files.readAllBytes(TestModules.adder(directory)));
                    assertThatExceptionOfType(ProgramLoadException.class).isThrownBy(() -> programs.load("add", null));
                    float[] four = {1, 2, 3, 4};
                    try (Results results =
                            context.getBean(InvocationOperations.class).invoke("add.add", four, four)) {
                        assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
                    }
                });
    }

    @ParameterizedTest
    @CsvSource({
        "iree.device,                 abacus",
        "iree.devices.gpu.uri,        abacus://0",
        "iree.modules.adder.devices,  abacus",
        "iree.advanced.queues.copies.device,   abacus"
    })
    void unknownDeviceNamesTheReferringProperty(String property, String device) throws Exception {
        assertInvalid(
                property,
                "'abacus' is neither a device of 'iree.devices', which has ",
                "iree.modules.adder.location=" + TestModules.adder(directory),
                "iree.devices.other.uri=local",
                property + "=" + device);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocm", "rocm:1", "rocm://0"})
    void theFormerNameOfHipMeansTheDriverOfHip(String uri) {
        assumeFalse(FakeCuda.driver("hip").availability().available(), "HIP is here");
        assertInvalid("iree.devices.gpu.uri", "Driver 'hip' is not available: ", "iree.devices.gpu.uri=" + uri);
    }

    @Test
    void deviceWithoutADriverOfItsNameIsNamed() {
        assertInvalid("iree.devices.gpu", "nor a driver; drivers here: ", "iree.devices.gpu.gpu.compiled-code=off");
    }

    @ParameterizedTest
    @CsvSource({
        "iree.pools.fast,              budget=1MB,             There is no device of that name; there are [local]",
        "iree.advanced.pools.fast,     trim.retained=1MB,      There is no device of that name; there are [local]",
        "iree.advanced.devices.fast,   queue-count=1,          There is no device of that name; there are [local]",
        "iree.advanced.modules.abacus, overlapping-calls=true, There is no program of that name; there are []",
    })
    void propertiesOfNothingAreNamed(String key, String value, String reason) {
        assertInvalid(key, reason, key + "." + value);
    }

    @Test
    void quotaOfAnUnknownProgramIsNamed() throws Exception {
        assertInvalid(
                "iree.pools.local.quotas.ader",
                "There is no program of that name; there are [adder].",
                "iree.modules.adder.location=" + TestModules.adder(directory),
                "iree.pools.local.quotas.ader=1MB");
    }

    @Test
    void quotaOfAProgramRegisteredByABeanIsValid() {
        runner.withBean(Registrar.class)
                .withPropertyValues("iree.pools.local.quotas.later=1MB")
                .run(context -> assertThat(context).hasNotFailed());
    }

    static final class Registrar {
        Registrar(Programs programs) {
            programs.define(ProgramSource.of("later", "later.vmfb"));
        }
    }

    @Test
    void quotaBeyondTheBudgetIsNamed() {
        assertInvalid(
                "iree.pools.local.quotas.adder",
                "It is more than 'iree.pools.local.budget', 1048576B",
                "iree.pools.local.budget=1MB",
                "iree.pools.local.quotas.adder=1GB");
    }

    @Test
    void versionAlreadyInTheModuleIsNamed() throws Exception {
        Path adder = TestModules.adder(directory);
        assertInvalid(
                "iree.modules.adder.versions.1.location",
                "The module at 'iree.modules.adder.location' has this version already",
                "iree.modules.adder.location=" + adder,
                "iree.modules.adder.versions.1.location=" + adder);
    }

    @Test
    void warmUpOutOfRangeNamesItsProperty() throws Exception {
        String adder = "iree.modules.adder.location=" + TestModules.adder(directory);
        assertInvalid(
                "iree.modules.adder.warm-up[0].function",
                "It must name a function of the program",
                adder,
                "iree.modules.adder.warm-up[0].inputs=1,2");
        assertInvalid(
                "iree.modules.adder.warm-up[1].repeat",
                "'repeat' of the warm-up of 'add' is 0 and must be at least 1",
                adder,
                "iree.modules.adder.warm-up[0].function=add",
                "iree.modules.adder.warm-up[1].function=add",
                "iree.modules.adder.warm-up[1].repeat=0");
    }

    @Test
    void impossibleFileOrRecorderIsNamedWithItsProperty() {
        assertInvalid(
                "iree.integrity.public-key",
                "It cannot be read: ",
                "iree.integrity.public-key=" + directory.resolve("none.pem"));
        assertInvalid(
                "iree.recorder.file",
                "There is no directory '%s'. Create it".formatted(directory.resolve("none")),
                "iree.recorder.enabled=true",
                "iree.recorder.file=" + directory.resolve("none").resolve("x.iree4j"));
        assertInvalid(
                "iree.recorder.file",
                "It cannot be written (",
                "iree.recorder.enabled=true",
                "iree.recorder.file=" + directory);
        assertInvalid(
                "iree.recorder.dispatches",
                "dispatches of one of -1 executions are not recorded; the number must be in [0, 1048576]",
                "iree.recorder.enabled=true",
                "iree.recorder.dispatches=-1");
    }

    @Test
    void servedFunctionOfAnUnknownProgramIsNamed() throws Exception {
        assertServedInvalid(
                "iree.serving.functions.ader", "There is no program of that name; there are [adder].", "ader=add");
    }

    @Test
    void servedFunctionMissingInTheProgramIsNamed() throws Exception {
        assertServedInvalid(
                "iree.serving.functions.adder",
                "has no function of that name; the functions are [add",
                "adder=subtract");
    }

    @Test
    void textMissingInTheProgramIsNamed() throws Exception {
        assertServedInvalid(
                "iree.serving.strings.adder",
                "has no tensor of 8-bit integers of that name among inputs and outputs; candidates are []",
                "adder=add",
                "iree.serving.strings.adder=input0");
        assertServedInvalid(
                "iree.serving.strings.ader",
                "There is no program of that name; there are [adder].",
                "adder=add",
                "iree.serving.strings.ader=input0");
    }

    @Test
    void anImpossibleRangeIsNamed() throws Exception {
        assertServedInvalid(
                "iree.serving.ranges.adder.input9",
                "has no input of that name for whole numbers; candidates are [input0, input1]",
                "adder=add",
                "iree.serving.ranges.adder.input9=0..3");
        assertServedInvalid(
                "iree.serving.ranges.ader",
                "There is no program of that name; there are [adder].",
                "adder=add",
                "iree.serving.ranges.ader.input0=0..3");
        assertServedInvalid( // as an environment variable has it
                "iree.serving.ranges.adder.input.ids",
                "has no input of that name for whole numbers; candidates are [input0, input1]",
                "adder=add",
                "iree.serving.ranges.adder.input.ids=0..3");
        assertServedInvalid(
                "iree.serving.ranges.adder.input0",
                "'0-3' is no range of whole numbers such as 0..30521",
                "adder=add",
                "iree.serving.ranges.adder.input0=0-3");
    }

    @ParameterizedTest
    @CsvSource({
        "3..0, is empty",
        "0-3, no range of whole numbers",
        "0..1e9, no range",
        "0.., no range",
        "0..9999999999999999999, 9999999999999999999"
    })
    void aTextOfNoRangeIsNamed(String text, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ValueRange.of(text))
                .withMessageContaining(reason);
    }

    private void assertServedInvalid(String property, String reason, String function, String... more) throws Exception {
        new WebApplicationContextRunner()
                .withConfiguration(ALL)
                .withPropertyValues(
                        "iree.serving.enabled=true",
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.serving.functions." + function)
                .withPropertyValues(more)
                .run(context -> assertInvalid(context.getStartupFailure(), property, reason));
    }

    @ParameterizedTest
    @ValueSource(strings = {"circuit-breaker", "bulkhead", "time-limiter", "retry"})
    void resilienceWithoutResilience4jNamesTheDependency(String property) throws Exception {
        String name = "iree.modules.adder.resilience." + property;
        runner.withClassLoader(new FilteredClassLoader("io.github.resilience4j"))
                .withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory), name + "=true")
                .run(context -> {
                    assertThat(context).hasFailed();
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    String artifact = "resilience4j-" + property.replace("-", "");
                    assertThat(analysis.getDescription())
                            .contains("'%s' is true, but '%s' is not".formatted(name, artifact));
                    assertThat(analysis.getAction())
                            .contains("'io.github.resilience4j:%s'".formatted(artifact))
                            .contains("'io.github.resilience4j:resilience4j-spring-boot4'");
                });
    }

    private static FailureAnalysis analyze(Throwable failure) {
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(
                        FailureAnalyzer.class,
                        SpringFactoriesLoader.ArgumentResolver.of(
                                org.springframework.core.env.Environment.class, new StandardEnvironment()),
                        (type, name, e) -> {})
                .stream()
                .filter(analyzer -> analyzer.getClass().getName().startsWith("io.github.iree4j"))
                .map(analyzer -> analyzer.analyze(failure))
                .filter(analysis -> analysis != null)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void missingNativeLibraryIsNamed() {
        assertInvalid(
                "iree.native.library-path",
                "There is no such file or directory",
                "iree.native.library-path=/nowhere/lib.so");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void propertiesWithoutEffectAreInTheLog(CapturedOutput output) throws Exception {
        Path weights = directory.resolve("weights.irpa");
        new IrpaWriter().stored("weight", 1, 2, 3, 4).write(weights);
        long budget = 1L << 50; // more than any machine has
        runner.withPropertyValues(
                        "iree.recorder.file=" + directory.resolve("x.iree4j"),
                        "iree.modules.weighted.location=" + TestModules.weighted(directory),
                        "iree.modules.weighted.placement=least-loaded",
                        "iree.modules.weighted.parameters.model=" + weights,
                        "iree.modules.weighted.parameters.nope=" + weights,
                        "iree.pools.local.quotas.weighted=%dB".formatted(budget))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("'iree.recorder.file=%s' has no effect".formatted(directory.resolve("x.iree4j")))
                .contains("set 'iree.recorder.enabled=true'")
                .contains("'iree.modules.weighted.placement=least-loaded' has no effect")
                .contains("one device, local; list several in 'iree.modules.weighted.devices'")
                .contains("'iree.modules.weighted.parameters.nope=%s' has no effect so far".formatted(weights))
                .contains("no parameters of scope 'nope', but some of model; correct")
                .doesNotContain("parameters.model=")
                .contains("'iree.pools.local.quotas.weighted=%dB' has no effect: device 'local' has".formatted(budget))
                .contains("set 'iree.pools.local.budget'");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void parametersOfAProgramLoadingNoneAreInTheLog(CapturedOutput output) throws Exception {
        Path weights = directory.resolve("weights.irpa");
        new IrpaWriter().stored("weight", 1, 2, 3, 4).write(weights);
        runner.withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.parameters.model=" + weights)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("the program has loaded no parameters of scope 'model', and none of another scope; correct");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void limitsCutShortByOthersAreInTheLog(CapturedOutput output) throws Exception {
        runner.withPropertyValues(
                        "iree.invocation.drain-timeout=40s",
                        "spring.lifecycle.timeout-per-shutdown-phase=45s",
                        "iree.executables.allowed-formats=vmvx,vmvx-bytecode-fb",
                        "iree.modules.add.location=" + TestModules.fixture("3.11.0/vmvx/add.vmfb"),
                        "iree.modules.add.batching.enabled=true",
                        "iree.modules.add.batching.buckets=2,4")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("'iree.invocation.drain-timeout', which is 40 s, has no effect beyond 30 s, two thirds of"
                        + " 'spring.lifecycle.timeout-per-shutdown-phase'; raise the latter to 60 s")
                .contains("'iree.executables.allowed-formats=vmvx' has no effect: no device here takes the format,"
                        + " and all devices together take [vmvx-bytecode-fb] of the allowed formats")
                .contains("'iree.modules.add.batching.buckets=2,4' has no effect: each function that can be batched");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void secondsGivenWithoutTheirUnitAreInTheLog(CapturedOutput output) throws Exception {
        runner.withPropertyValues(
                        "iree.invocation.timeout=5",
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.timeout=500us")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains(
                        "'iree.invocation.timeout' is 5 ms; a number without a unit is milliseconds, and '5s' is seconds")
                .doesNotContain("'iree.modules.adder.timeout'");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void propertiesWithEffectAreNotInTheLog(CapturedOutput output) throws Exception {
        runner.withPropertyValues(
                        "iree.recorder.enabled=true",
                        "iree.recorder.file=" + directory.resolve("x.iree4j"),
                        "iree.devices.local.uri=local",
                        "iree.devices.other.uri=local",
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.devices=local,other",
                        "iree.modules.adder.placement=least-loaded",
                        "iree.invocation.drain-timeout=20s",
                        "iree.executables.allowed-formats=vmvx-bytecode-fb",
                        "iree.pools.local.quotas.adder=1MB")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain("has no effect");
    }

    @Test
    void nativeLibraryNamedTooLateIsRefused() {
        IreeRuntime.create().close(); // searches it
        assertInvalid(
                "iree.native.library-path",
                "was already searched, in the class path; name '%s' before its first use".formatted(directory),
                "iree.native.library-path=" + directory);
    }

    @Test
    void directoryForTheNativeLibraryIsNamed() {
        runner.run(context -> assertThat(context).hasNotFailed()); // uses the library
        Path other = directory.resolve("other");
        assertInvalid(
                "iree.native.extract-dir",
                "was already copied, to the cache of the user; name '%s' before its first use".formatted(other),
                "iree.native.extract-dir=" + other);
    }

    @Test
    void changedTimeoutOutOfRangeIsIgnored() throws Exception {
        String adder = "iree.modules.adder.location=" + TestModules.adder(directory);
        runner.withPropertyValues(adder, "iree.invocation.timeout=5s").run(context -> {
            Program before = context.getBean(Program.class);
            context.getSourceApplicationContext()
                    .getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("changed", Map.of("iree.invocation.timeout", "-1s")));
            context.publishEvent(new EnvironmentChangeEvent(context));
            assertThat(before.timeout()).contains(Duration.ofSeconds(5));
        });
    }

    @Test
    void addingADeviceMovesNoProgram() throws Exception {
        String adder = "iree.modules.adder.location=" + TestModules.adder(directory);
        for (List<String> devices : List.of(
                List.<String>of(),
                List.of("iree.devices.another.uri=local"),
                List.of("iree.devices.another.uri=local", "iree.devices.a.uri=local"),
                List.of("iree.devices.another.uri=local", "iree.advanced.devices.local.inline-work=0"))) {
            runner.withPropertyValues(adder)
                    .withPropertyValues(devices.toArray(String[]::new))
                    .run(context -> assertThat(context.getBean("iree.modules.adder", io.github.iree4j.Program.class)
                                    .devices())
                            .containsExactly(context.getBean("iree.devices.local", io.github.iree4j.hal.Device.class)));
        }
    }

    @Test
    void firstQueueOfEachDeviceIsABean() {
        runner.withPropertyValues("iree.devices.slow.uri=local")
                .withBean(Queues.class)
                .run(context -> {
                    var runtime = context.getBean(io.github.iree4j.IreeRuntime.class);
                    Queues queues = context.getBean(Queues.class);
                    assertThat(queues.any).isSameAs(runtime.device("local").queue(0));
                    assertThat(queues.slow).isSameAs(runtime.device("slow").queue(0));
                });
        runner.withPropertyValues(
                        "iree.devices.slow.uri=local",
                        "iree.advanced.queues.slow.device=slow",
                        "iree.advanced.queues.slow.index=1")
                .withBean(Queues.class)
                .run(context -> {
                    var runtime = context.getBean(io.github.iree4j.IreeRuntime.class);
                    Queues queues = context.getBean(Queues.class);
                    assertThat(queues.slow).isSameAs(runtime.device("slow").queue(1));
                    assertThat(queues.any).isSameAs(queues.slow); // the only named program
                });
    }

    static final class Queues {
        final DeviceQueue any;
        final DeviceQueue slow;

        Queues(DeviceQueue any, @Qualifier("slow") DeviceQueue slow) {
            this.any = any;
            this.slow = slow;
        }
    }

    @Test
    void callsAreMadeThroughAnInterface() throws Exception {
        runner.withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory))
                .run(context -> {
                    InvocationOperations operations = context.getBean(InvocationOperations.class);
                    assertThat(operations).isSameAs(context.getBean(InvocationService.class));
                    try (Results results = operations.invoke("adder.add", 40, 2)) {
                        assertThat(results.intValue(0)).isEqualTo(42);
                    }
                });
        assertThat(Arrays.stream(InvocationOperations.class.getMethods()).map(Method::getName))
                .contains("invoke", "invokeAsync", "request", "function");
    }
}
