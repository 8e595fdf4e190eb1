package io.github.iree4j;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Checks the dependencies of packages. To add an edge, add it to {@link #MAY_USE}, in sight of a reviewer. */
class ArchitectureTest {
    private static final String R = "io.github.iree4j";

    /** The modules with packages in {@link #MAY_USE}. */
    private static final List<String> PARTS = List.of(
            "runtime-core", "vmasm", "virtual-devices", "vmvx", "backend-stream", "backend-vulkan", "backend-gpu");

    /** Packages open to every other. */
    private static final List<String> COMMON = List.of("api", "status", "lifetime");

    /** Each package with its permitted project packages besides {@link #COMMON}. The root package joins all of them. */
    private static final Map<String, List<String>> MAY_USE = Map.ofEntries(
            entry("api", List.of()),
            entry("status", List.of()),
            entry("lifetime", List.of()),
            entry("frontier", List.of()),
            entry("nativeaccess", List.of()),
            entry("nativeaccess.gpu", List.of("nativeaccess")),
            entry("nativeaccess.vulkan", List.of("nativeaccess")),
            entry("async", List.of("frontier")),
            // The thread that waits for events of the operating system is here, the system calls are in nativeaccess.
            entry("async.io", List.of("async", "frontier", "nativeaccess")),
            entry("task", List.of()),
            entry("flatbuffer", List.of()),
            entry("spirv", List.of("flatbuffer")),
            entry("vm.isa", List.of()),
            entry("vm", List.of("vm.isa")),
            // Module bytes are in memory not writable by kernels.
            entry("vm.bytecode", List.of("vm", "vm.isa", "flatbuffer", "nativeaccess")),
            entry("vm.asm", List.of("vm", "vm.isa", "vm.bytecode", "flatbuffer")),
            entry("module", List.of("vm", "async")),
            entry("hal.pool", List.of("frontier", "async")),
            entry("hal", List.of("hal.pool", "frontier", "async", "async.io")),
            // Storage of buffers in queue order.
            entry("hal.storage", List.of("hal", "hal.pool", "frontier", "async")),
            entry("hal.schedule", List.of("hal", "hal.storage", "hal.pool", "frontier", "async")),
            entry("hal.record", List.of("hal", "hal.storage", "hal.schedule")),
            entry("hal.loader", List.of("hal", "nativeaccess")),
            entry("hal.spi", List.of("hal", "hal.loader", "hal.pool", "frontier", "async", "task")),
            // Participants of collectives; backends do the work.
            entry("hal.collective", List.of("hal", "hal.schedule", "hal.record", "frontier", "async")),
            entry(
                    "hal.local",
                    List.of(
                            "hal",
                            "hal.collective",
                            "hal.storage",
                            "hal.schedule",
                            "hal.record",
                            "hal.loader",
                            "hal.spi",
                            "hal.pool",
                            "frontier",
                            "async",
                            "async.io",
                            "task",
                            "nativeaccess")),
            entry(
                    "hal.stream",
                    List.of(
                            "hal",
                            "hal.storage",
                            "hal.schedule",
                            "hal.record",
                            "hal.collective",
                            "hal.spi",
                            "hal.pool",
                            "frontier",
                            "async",
                            "async.io",
                            "nativeaccess")),
            // Recognises declarations lost in shaders.
            entry(
                    "hal.vulkan",
                    List.of(
                            "hal",
                            "hal.storage",
                            "hal.record",
                            "hal.spi",
                            "hal.stream",
                            "frontier",
                            "nativeaccess",
                            "nativeaccess.vulkan",
                            "spirv",
                            "call",
                            "tensor",
                            "vm",
                            "vm.bytecode")),
            entry(
                    "hal.gpu",
                    List.of(
                            "hal",
                            "hal.record",
                            "hal.spi",
                            "hal.stream",
                            "async",
                            "nativeaccess",
                            "nativeaccess.gpu",
                            "flatbuffer")),
            // A virtual device is a CPU with other queues.
            entry(
                    "hal.virtual",
                    List.of(
                            "hal",
                            "hal.schedule",
                            "hal.loader",
                            "hal.spi",
                            "hal.pool",
                            "hal.local",
                            "frontier",
                            "async")),
            // The memory holder identifies the submitting call.
            entry("hal.copying", List.of("hal", "hal.storage", "hal.schedule", "hal.pool", "frontier", "async")),
            // Elements in host or device memory; the root package wraps them as tensors.
            entry("tensor", List.of("hal", "hal.copying", "hal.pool", "async")),
            // The operators' view; provided by the root package and calls.
            entry("monitor", List.of("vm", "hal", "async", "task")),
            // Calls on elements; the root package has the public types.
            entry("call", List.of("monitor", "tensor", "vm", "hal", "hal.pool", "async", "task")),
            entry("modules.hal", List.of("vm", "hal", "hal.copying", "hal.pool", "frontier", "async")),
            entry(
                    "modules.parameters",
                    List.of("vm", "hal", "hal.spi", "frontier", "async", "async.io", "modules.hal")),
            entry("modules.check", List.of("vm", "hal", "modules.hal")),
            // VMVX executables are bytecode modules: the loader is registered with the local device, unknown to it.
            entry("modules.vmvx", List.of("vm", "vm.bytecode", "hal", "hal.loader")));

    /** Public packages. The module descriptor exports no others. */
    private static final Set<String> EXPORTED = Set.of(
            R,
            R + ".api",
            R + ".status",
            R + ".lifetime",
            R + ".frontier",
            R + ".async",
            R + ".async.io",
            R + ".task",
            R + ".hal",
            R + ".hal.loader",
            R + ".hal.pool",
            R + ".hal.record",
            R + ".hal.schedule",
            R + ".hal.spi",
            R + ".hal.storage",
            R + ".hal.stream",
            R + ".module",
            R + ".modules.parameters",
            R + ".monitor",
            R + ".vm",
            R + ".vm.bytecode");

    private static JavaClasses main;

    @BeforeAll
    static void importClasses() {
        main = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages(R);
    }

    @TestFactory
    Stream<DynamicTest> packageUsesOnlyItsPermittedPackages() {
        return new TreeMap<>(MAY_USE)
                .entrySet().stream()
                        .map(e -> DynamicTest.dynamicTest(e.getKey() + " uses only " + e.getValue(), () -> {
                            List<String> allowed = new ArrayList<>();
                            allowed.add(R + "." + e.getKey());
                            COMMON.forEach(p -> allowed.add(R + "." + p));
                            e.getValue().forEach(p -> allowed.add(R + "." + p));
                            classes()
                                    .that()
                                    .resideInAPackage(R + "." + e.getKey())
                                    .should()
                                    .onlyDependOnClassesThat(resideInAnyPackage(allowed.toArray(String[]::new))
                                            .or(resideOutsideOfPackages(R, R + "..")))
                                    .allowEmptyShould(true)
                                    .check(main);
                        }));
    }

    @Test
    void everyPackageIsInTheTable() {
        Set<String> unknown = new TreeSet<>();
        for (JavaClass c : main) {
            String name = c.getPackageName();
            if (!name.equals(R) && !MAY_USE.containsKey(name.substring(R.length() + 1))) {
                unknown.add(name);
            }
        }
        assertThat(unknown)
                .as("packages missing from MAY_USE and from the package table in README.md")
                .isEmpty();
    }

    @Test
    void everyPackageInTheTableExists() {
        Set<String> existing = main.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
        assertThat(MAY_USE.keySet()).allSatisfy(name -> assertThat(existing).contains(R + "." + name));
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("(" + R + "..)").should().beFreeOfCycles().check(main);
    }

    @Test
    void everyPackageIsNullMarked() {
        Set<String> unmarked = main.stream()
                .map(JavaClass::getPackage)
                .filter(p -> !p.isAnnotatedWith(NullMarked.class))
                .map(p -> p.getName())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(unmarked).as("packages without @NullMarked package-info").isEmpty();
    }

    @Test
    void nativeMethodsLiveBehindOneDoor() {
        noMethods()
                .that(modifier(JavaModifier.NATIVE))
                .should()
                .beDeclaredInClassesThat()
                .resideOutsideOfPackage(R + ".nativeaccess..")
                .allowEmptyShould(true)
                .check(main);
    }

    @Test
    void librariesAreLoadedBehindOneDoor() {
        noClasses()
                .that()
                .resideOutsideOfPackage(R + ".nativeaccess")
                .should()
                .callMethodWhere(target(System.class, "load", "loadLibrary")
                        .or(target(Runtime.class, "load", "loadLibrary"))
                        .or(describe(
                                "java.lang.foreign.Linker",
                                a -> a.getTargetOwner().getName().equals("java.lang.foreign.Linker"))))
                .check(main);
    }

    @Test
    void coreUsesFewLibraries() {
        classes()
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(R, R + "..", "java..", "org.jspecify..", "org.slf4j..")
                        .or(JavaClass.Predicates.type(com.sun.management.OperatingSystemMXBean.class)))
                .check(main);
    }

    @Test
    void threadsAreMadeOnlyByTaskAndAsync() {
        DescribedPredicate<JavaAccess<?>> makesThread = target(
                        Thread.class, "ofPlatform", "ofVirtual", "startVirtualThread")
                .or(describe(
                        "a constructor of a thread or of a pool of threads",
                        a -> a.getName().equals("<init>")
                                && (a.getTargetOwner().isEquivalentTo(Thread.class)
                                        || a.getTargetOwner().isEquivalentTo(java.util.Timer.class)
                                        || a.getTargetOwner()
                                                .isAssignableTo(java.util.concurrent.AbstractExecutorService.class))))
                .or(describe(
                        "a factory of pools of threads",
                        a -> a.getTargetOwner().isEquivalentTo(java.util.concurrent.Executors.class)));
        noClasses()
                .that()
                .resideOutsideOfPackages(R + ".task", R + ".async", R + ".async.io")
                // The VM knows neither; its compiler has a thread that runs no user code.
                .and()
                .doNotHaveFullyQualifiedName(R + ".vm.bytecode.CompilerThread")
                .should()
                .callCodeUnitWhere(makesThread.forSubtype())
                .check(main);
    }

    @Test
    void backendsShowOnlyTheirProvider() {
        classes()
                .that()
                .resideInAnyPackage(R + ".hal.local", R + ".hal.vulkan", R + ".hal.gpu")
                .and()
                .arePublic()
                // Knowledge of tools about executables without a device.
                .and()
                .doNotHaveFullyQualifiedName(R + ".hal.gpu.GpuCode")
                // Extended and run by the virtual device.
                .and()
                .doNotHaveFullyQualifiedName(R + ".hal.local.HostDevice")
                .and()
                .doNotHaveFullyQualifiedName(R + ".hal.local.HostOperation")
                .and()
                .doNotImplement(ProgramCheck.class)
                .should()
                .haveSimpleNameEndingWith("DriverProvider")
                .check(main);
    }

    @Test
    void modulesExportThePublicPackages() throws IOException {
        Set<String> present = main.stream()
                .filter(c -> !c.getSimpleName().equals("package-info"))
                .map(JavaClass::getPackageName)
                .filter(EXPORTED::contains)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> exported = new TreeSet<>();
        for (String part : PARTS) {
            descriptor(part).exports().stream().filter(e -> !e.isQualified()).forEach(e -> exported.add(e.source()));
        }
        assertThat(exported).isSubsetOf(EXPORTED).containsAll(present);
    }

    /** A Spring Boot jar runs on the class path, where 'provides' is not read; the two lists must not differ. */
    @TestFactory
    Stream<DynamicTest> servicesOfAModuleAndOfTheClassPathAgree() {
        return PARTS.stream()
                .map(part -> DynamicTest.dynamicTest(
                        part, () -> assertThat(registered(part)).isEqualTo(provided(part))));
    }

    private static Map<String, List<String>> provided(String part) throws IOException {
        Map<String, List<String>> provided = new TreeMap<>();
        for (ModuleDescriptor.Provides each : descriptor(part).provides()) {
            provided.put(each.service(), each.providers().stream().sorted().toList());
        }
        return provided;
    }

    private static Map<String, List<String>> registered(String part) throws IOException {
        Map<String, List<String>> registered = new TreeMap<>();
        Path services = compiled(part).resolve("META-INF/services");
        if (Files.isDirectory(services)) {
            try (Stream<Path> files = Files.list(services)) {
                for (Path file : files.toList()) {
                    registered.put(
                            file.getFileName().toString(),
                            Files.readAllLines(file).stream()
                                    .map(line -> line.replaceFirst("#.*", "").strip())
                                    .filter(line -> !line.isEmpty())
                                    .sorted()
                                    .toList());
                }
            }
        }
        return registered;
    }

    private static ModuleDescriptor descriptor(String part) throws IOException {
        try (InputStream in = Files.newInputStream(compiled(part).resolve("module-info.class"))) {
            return ModuleDescriptor.read(in);
        }
    }

    private static Path compiled(String part) {
        return Path.of("..", part, "target/classes");
    }

    private static DescribedPredicate<JavaAccess<?>> target(Class<?> owner, String... names) {
        List<String> wanted = Arrays.asList(names);
        return describe(
                owner.getSimpleName() + " " + wanted,
                a -> a.getTargetOwner().isEquivalentTo(owner) && wanted.contains(a.getName()));
    }
}
