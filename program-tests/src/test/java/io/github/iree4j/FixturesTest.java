package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.FixtureManifest.Call;
import io.github.iree4j.FixtureManifest.Module;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.nativeaccess.SystemCapability;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ModuleVerifier;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every program of {@code fixtures/} gives the results of IREE's own runtime of the same release. Each call is made
 * twice, since the second must not see state of the first.
 */
class FixturesTest {
    private static final long LIMIT = 8 << 20;
    private static final FixtureManifest MANIFEST = FixtureManifest.read();
    private static final Map<String, String> KNOWN_FAILURES = FixtureManifest.knownFailures();

    private static final Map<String, IreeRuntime> RUNTIMES = new HashMap<>();

    /** A call of a module, or all calls where they depend on each other. */
    record Case(Module module, List<Call> calls) {
        /** The key in the list of known failures. */
        String key() {
            return module.name()
                    + (module.sequence() ? "" : " " + calls.getFirst().function());
        }

        @Override
        public String toString() {
            return key() + " "
                    + calls.stream()
                            .flatMap(call -> call.inputs().stream())
                            .map(FixturesTest::head)
                            .collect(Collectors.joining(", ", "(", ")"));
        }
    }

    private static String head(String value) {
        return value.split("[=:]", 2)[0];
    }

    static Stream<Case> cases() {
        return MANIFEST.modules().stream()
                .flatMap(module -> module.calls().isEmpty()
                        ? Stream.empty()
                        : module.sequence()
                                ? Stream.of(new Case(module, module.calls()))
                                : module.calls().stream().map(call -> new Case(module, List.of(call))));
    }

    @AfterAll
    static void close() {
        RUNTIMES.forEach((device, runtime) -> {
            runtime.close();
            runtime.devices()
                    .forEach(each -> assertThat(each.allocator().statistics().bytesLive())
                            .as("bytes left on %s", device)
                            .isZero());
        });
    }

    private static IreeRuntime runtime(Module module) {
        String variant = module.variant();
        if (variant.startsWith("vulkan")) {
            VulkanOfProcess.assume();
            if (variant.equals("vulkan-two")) {
                return RUNTIMES.computeIfAbsent(variant, name -> onDevices("vulkan", "a", "b"));
            }
            return RUNTIMES.computeIfAbsent(
                    "vulkan", name -> IreeRuntime.builder().device(name).build());
        }
        if (isForGpu(variant)) {
            String driver = variant.startsWith("rocm") ? "hip" : "cuda";
            assumeDriver(driver);
            return RUNTIMES.computeIfAbsent(
                    driver, name -> IreeRuntime.builder().device(name).build());
        }
        if (variant.contains("cpu")) {
            String machine = module.command().contains("-target-triple=aarch64") ? "arm_64" : "x86_64";
            Assumptions.assumeTrue(
                    CpuFeatures.architecture().equals(machine), () -> "the module is compiled for " + machine);
        }
        if (variant.equals("cpu-two")) {
            return RUNTIMES.computeIfAbsent(variant, name -> onDevices("local", "a", "b"));
        }
        if (variant.equals("cpu-three")) {
            return RUNTIMES.computeIfAbsent(variant, name -> onDevices("local", "a", "b", "c"));
        }
        if (variant.equals("cpu-system")) {
            Assumptions.assumeTrue(
                    SystemCapability.SYSTEM_LIBRARIES.isPresent(),
                    "the operating system has no loader of ELF libraries");
            DeviceOptions libraries = DeviceOptions.builder()
                    .executableFormats(List.of("system-elf-x86_64"))
                    .build();
            return RUNTIMES.computeIfAbsent(
                    "system",
                    name -> IreeRuntime.builder()
                            .device("cpu", "local", libraries)
                            .build());
        }
        return RUNTIMES.computeIfAbsent("cpu", name -> IreeRuntime.create());
    }

    private static boolean isForGpu(String variant) {
        return variant.startsWith("cuda") || variant.startsWith("rocm");
    }

    /** Skips modules without an available driver, with the reason; fails under {@code -Diree.require}. */
    private static void assumeDriver(String name) {
        String reason = DriverProvider.installed().stream()
                .filter(driver -> driver.name().equals(name))
                .findFirst()
                .map(DriverProvider::availability)
                .orElseGet(() -> Availability.unavailable("it is not installed"))
                .reason();
        if (reason != null) {
            assertThat(System.getProperty("iree.require", "")).as(reason).doesNotContain(name);
            Assumptions.abort("no driver '%s': %s".formatted(name, reason));
        }
    }

    /** Skips modules loaded but not run by the driver without hardware. */
    private static void assumeRuns(String variant) {
        Assumptions.assumeTrue(
                !variant.startsWith("rocm")
                        || System.getProperty("iree.gpu.real", "").equals("hip"),
                "code objects are machine code of AMD's devices, absent here");
    }

    private static IreeRuntime onDevices(String uri, String... names) {
        RuntimeBuilder builder = IreeRuntime.builder();
        for (String name : names) {
            builder.device(name, uri, DeviceOptions.DEFAULTS);
        }
        return builder.build();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void givesTheResultsOfTheRuntimeOfItsRelease(Case given) {
        String reason = KNOWN_FAILURES.getOrDefault(given.toString(), KNOWN_FAILURES.get(given.key()));
        if (reason == null) {
            check(given);
        } else if (reason.startsWith("undefined")) {
            try {
                check(given);
            } catch (AssertionError _) {
                // Unwritten elements have undefined contents.
            }
        } else {
            ThrowingCallable attempt = () -> check(given);
            assertThatThrownBy(attempt)
                    .as("take this line from known-failures.txt: %s", reason)
                    .isNotNull();
        }
    }

    private static void check(Case given) {
        Module module = given.module();
        ProgramOptions.Builder options = ProgramOptions.builder();
        module.with().forEach(each -> options.module(Fixtures.file(each)));
        options.module(Fixtures.file(module.name()));
        module.parameters().forEach((scope, file) -> options.parameters(scope, Fixtures.file(file)));
        try (Program program = runtime(module).load(options.build())) {
            assumeRuns(module.variant());
            for (int round = 0; round < (module.sequence() ? 1 : 2); round++) {
                for (Call call : given.calls()) {
                    check(program, call, tolerance(module));
                }
            }
        }
    }

    /** SPIR-V lets drivers round a product and a sum once, and NVIDIA's does so. */
    private static double tolerance(FixtureManifest.Module module) {
        return module.variant().startsWith("vulkan") ? Math.max(module.tolerance(), 1e-6) : module.tolerance();
    }

    private static void check(Program program, Call call, double tolerance) {
        ProgramFunction function = program.function(call.function());
        List<Object> inputs = new ArrayList<>();
        try {
            call.inputs().forEach(text -> inputs.add(input(text)));
            if (!call.failures().isEmpty()) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> function.invoke(inputs.toArray()).close());
                return;
            }
            try (Results results = function.invoke(inputs.toArray())) {
                assertThat(results.size()).isEqualTo(call.results().size());
                for (int i = 0; i < results.size(); i++) {
                    checkResult(results, i, call.results().get(i), tolerance);
                }
            }
        } finally {
            for (Object input : inputs) {
                if (input instanceof Tensor tensor) {
                    tensor.close();
                }
            }
        }
    }

    private static Object input(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return Tensor.parse(text);
        }
        String number = text.substring(colon + 1);
        return switch (text.substring(0, colon)) {
            case "i64" -> Long.valueOf(number);
            case "f32" -> Float.valueOf(number);
            case "f64" -> Double.valueOf(number);
            default -> Integer.valueOf(number);
        };
    }

    private static void checkResult(Results results, int index, String expected, double tolerance) {
        int colon = expected.indexOf(':');
        if (colon >= 0) {
            Number number = (Number) results.get(index);
            assertThat(number).isNotNull();
            assertThat(number.doubleValue())
                    .as("result %d", index)
                    .isEqualTo(Double.parseDouble(expected.substring(colon + 1)));
            return;
        }
        Tensor actual = results.tensor(index);
        try (Tensor wanted = Tensor.parse(expected)) {
            assertThat(actual.elementType()).as("type of result %d", index).isEqualTo(wanted.elementType());
            assertThat(actual.shape()).as("shape of result %d", index).isEqualTo(wanted.shape());
            if (isFloat(wanted.elementType())) {
                double[] got = actual.toDoubleArray();
                double[] all = wanted.toDoubleArray();
                for (int i = 0; i < all.length; i++) {
                    if (Double.isNaN(all[i])) {
                        assertThat(got[i]).as("result %d, element %d", index, i).isNaN();
                    } else if (tolerance == 0 || Double.isInfinite(all[i])) {
                        assertThat(got[i]).as("result %d, element %d", index, i).isEqualTo(all[i]);
                    } else {
                        assertThat(got[i])
                                .as("result %d, element %d", index, i)
                                .isCloseTo(all[i], within(tolerance * Math.max(1, Math.abs(all[i]))));
                    }
                }
            } else {
                assertThat(actual.rawBytes()).as("result %d", index).isEqualTo(wanted.rawBytes());
            }
        }
    }

    private static boolean isFloat(ElementType type) {
        return type.equals(ElementType.F16)
                || type.equals(ElementType.BF16)
                || type.equals(ElementType.F32)
                || type.equals(ElementType.F64);
    }

    @Test
    void everyModuleIsInTheManifestAsMade() throws Exception {
        TreeSet<String> written = new TreeSet<>();
        for (Module module : MANIFEST.modules()) {
            written.add(module.name());
            assertThat(sha256(Fixtures.file(module.name()))).as(module.name()).isEqualTo(module.sha256());
            assertThat(sha256(Fixtures.DIRECTORY.resolve(module.program())))
                    .as("%s was compiled from an older %s; run fixtures/make.py", module.name(), module.program())
                    .isEqualTo(module.source());
        }
        Path modules = Fixtures.DIRECTORY.resolve("modules");
        try (Stream<Path> files = Files.walk(modules)) {
            TreeSet<String> there = new TreeSet<>();
            files.filter(Files::isRegularFile)
                    .forEach(file -> there.add(modules.relativize(file).toString()));
            assertThat(there).isEqualTo(written);
        }
    }

    /** With or without a driver. */
    @Test
    void modulesForGpusAreVerified() throws Exception {
        int verified = 0;
        for (Module module : MANIFEST.modules()) {
            if (isForGpu(module.variant())) {
                MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(Fixtures.file(module.name())));
                assertThat(ModuleVerifier.verify(bytes, null, ModuleLimits.DEFAULTS))
                        .as(module.name())
                        .isEmpty();
                verified++;
            }
        }
        assertThat(verified).isGreaterThan(100);
    }

    @Test
    void everyProgramIsCompiledAndCalledAndThereAreManyPrograms() throws Exception {
        TreeSet<String> called = MANIFEST.modules().stream()
                .filter(module -> !module.calls().isEmpty())
                .map(Module::program)
                .collect(Collectors.toCollection(TreeSet::new));
        called.add("programs/pipeline.mlir"); // with an import of the Java module of OlderProgramsTest
        called.add("programs/mixed_devices.mlir"); // with results computed by MixedDevicesProgramTest
        called.add("programs/collective.mlir"); // with results computed by CompiledCollectivesTest
        called.add("programs/filters.mlir"); // with results computed by FiltersVulkan2023Test
        TreeSet<String> programs = new TreeSet<>();
        try (Stream<Path> files = Files.list(Fixtures.DIRECTORY.resolve("programs"))) {
            files.forEach(file -> programs.add("programs/" + file.getFileName()));
        }
        assertThat(called).isEqualTo(programs);
        assertThat(programs).hasSizeGreaterThanOrEqualTo(60);
    }

    @Test
    void knownFailuresArePresent() {
        List<String> keys =
                cases().flatMap(each -> Stream.of(each.key(), each.toString())).toList();
        assertThat(keys).containsAll(KNOWN_FAILURES.keySet());
    }

    @Test
    void allModulesAreSmall() throws Exception {
        try (Stream<Path> files = Files.walk(Fixtures.DIRECTORY)) {
            assertThat(files.filter(Files::isRegularFile)
                            .mapToLong(file -> file.toFile().length())
                            .sum())
                    .isLessThan(LIMIT);
        }
    }

    private static String sha256(Path file) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }
}
