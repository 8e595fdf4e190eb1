package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.FunctionVariants;
import io.github.iree4j.MissingPart;
import io.github.iree4j.NativeCode;
import io.github.iree4j.SignatureFault;
import io.github.iree4j.VariantFault;
import io.github.iree4j.hal.MissingDevice;
import io.github.iree4j.hal.UnsupportedArchitecture;
import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.hal.loader.Loaders;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.modules.parameters.MissingScope;
import io.github.iree4j.spring.ChecksumMismatch;
import io.github.iree4j.spring.IntegrityFault;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.WarmUpFault;
import io.github.iree4j.spring.client.IreeClientException;
import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.UnresolvedImport;
import io.github.iree4j.vm.bytecode.UncompiledFile;
import io.github.iree4j.vm.bytecode.UnsupportedVersion;
import java.io.FileNotFoundException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Failure analyzer for modules that cannot be loaded: not found, compiled for another version or kind of device,
 * without parameters, or in need of unusable native code.
 */
final class ProgramLoadFailureAnalyzer extends AbstractFailureAnalyzer<ProgramLoadException> {

    private final Set<String> allowedFormats;

    /** For Spring. */
    ProgramLoadFailureAnalyzer(Environment environment) {
        this.allowedFormats = Set.copyOf(Binder.get(environment)
                .bind("iree.executables.allowed-formats", Bindable.setOf(String.class))
                .orElse(Set.of()));
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, ProgramLoadException cause) {
        if (cause.getCause() instanceof InvalidConfigurationPropertyValueException
                || cause.getCause() instanceof IreeClientException) {
            return null; // analysed by Spring Boot, and by the analyzer of clients
        }
        ProgramSource source = cause.source();
        String description = "Module '%s' could not be loaded from '%s':%n%n    %s"
                .formatted(
                        source.name(),
                        source.location(),
                        cause.getCause() instanceof FileNotFoundException
                                ? cause.getCause().getMessage()
                                : cause.getCause());
        return new FailureAnalysis(description, action(source, cause.getCause()), cause);
    }

    private String action(ProgramSource source, Throwable cause) {
        String module = "iree.modules." + source.name();
        String scope = namedScope(source, String.valueOf(cause.getMessage()));
        if (cause instanceof FileNotFoundException) {
            boolean isOfVariants =
                    source.variants().stream().anyMatch(each -> !each.modules().isEmpty());
            return "Correct '%s'%s. A location without a scheme is a file, here relative to '%s'; resources packaged in the application need 'classpath:'."
                    .formatted(
                            scope == null ? module + ".location" : module + ".parameters." + scope,
                            scope == null && isOfVariants ? ", or the 'modules' of '" + module + ".variants'" : "",
                            Path.of("").toAbsolutePath());
        }
        if (!(cause instanceof IreeException failure)) {
            return "Make sure that the application may read the file.";
        }
        MissingScope missing = failure.detail(MissingScope.class).orElse(null);
        if (missing != null) {
            return "Set '%s.parameters.%s' to the location of the archive (.irpa) that holds these parameters."
                    .formatted(module, missing.scope().isEmpty() ? ProgramSource.DEFAULT_SCOPE : missing.scope());
        }
        UncompiledFile uncompiled = failure.detail(UncompiledFile.class).orElse(null);
        if (uncompiled != null) {
            return "Set '%s.location' to a compiled module (.vmfb): %s.".formatted(module, uncompiled.remedy());
        }
        if (failure.detail(ChecksumMismatch.class).isPresent()) {
            return "Restore the intended file, or correct '%s.sha256'.".formatted(module);
        }
        IntegrityFault fault = failure.detail(IntegrityFault.class).orElse(null);
        if (fault != null) {
            return fault.remedy();
        }
        VariantFault variants = failure.detail(VariantFault.class).orElse(null);
        if (variants != null) {
            return "Correct '%s.variants.%s', or the shapes that the module declares ('%s')."
                    .formatted(module, variants.function(), FunctionVariants.ATTRIBUTE);
        }
        SignatureFault signature = failure.detail(SignatureFault.class).orElse(null);
        if (signature != null) {
            return "Correct '%s.functions.%s.signature'; leave out the types that the module has itself, as in '(%%image) -> (%%scores)'."
                    .formatted(module, signature.function());
        }
        MissingDevice device = failure.detail(MissingDevice.class).orElse(null);
        if (device != null) {
            return "The program is compiled for several devices and '%s' lists %d of 'iree.devices': list a device for each, in the program's order, also two of the same 'uri'; 'bin/iree4j dump' shows the devices of the program."
                    .formatted(module + ".devices", device.given());
        }
        UnsupportedTarget target = failure.detail(UnsupportedTarget.class).orElse(null);
        if (target != null && wantsLibraries(target)) {
            return """
                    Compile the program without --iree-llvmcpu-link-embedded=false. Or, if you trust it, add its format to \
                    'iree.executables.allowed-formats', along with those that other programs need: shared libraries are loaded by the operating \
                    system and can do anything that the application can.""";
        }
        boolean noTarget = target != null || refusesDevices(failure);
        if (!allowedFormats.isEmpty() && (noTarget || failure.code() == StatusCode.PERMISSION_DENIED)) {
            return """
                    Only %s may run, by 'iree.executables.allowed-formats'. Add the format of the program there if you trust it: native \
                    code can do anything that the application can. Or compile the program with \
                    --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx, which can only compute.""".formatted(String.join(", ", new TreeSet<>(allowedFormats)));
        }
        if (failure.code() == StatusCode.RESOURCE_EXHAUSTED) {
            return "%s'iree.pools.<device>.budget', or 'iree.pools.<device>.quotas.%s' if it is set, or reduce what the program loads."
                    .formatted(
                            isOfDriver(failure)
                                    ? "The device itself has no memory left: end other users of the device, or lower "
                                    : "Raise ",
                            source.name());
        }
        UnsupportedArchitecture architecture =
                failure.detail(UnsupportedArchitecture.class).orElse(null);
        if (architecture != null) {
            return "For device '%s', %s. Or select another device with '%s.devices'."
                    .formatted(architecture.device(), architecture.remedy(), module);
        }
        String part =
                target == null ? null : MissingPart.remedy(target.wanted()).orElse(null);
        if (target != null && part != null) {
            return "%s%s. Or compile the program for the configured devices, with the flags above."
                    .formatted(
                            StringUtils.capitalize(part),
                            target.wanted().stream().anyMatch(each -> each.startsWith("vmvx"))
                                    ? ""
                                    : ", and name its device in 'iree.devices.<name>.uri' and '%s.devices'"
                                            .formatted(module));
        }
        DriverProvider driver = target == null ? null : driverFor(target);
        if (driver != null) {
            Availability availability = driver.availability();
            return "The program is compiled for driver '%s'%s: set 'iree.devices.<name>.uri=%s', and '%s.devices=<name>'. Or compile the program for the configured devices, with the flags above."
                    .formatted(
                            driver.name(),
                            availability.available() ? "" : ", which is not available (" + availability.reason() + ")",
                            driver.name(),
                            module);
        }
        if (target != null
                && target.wanted().stream().anyMatch(each -> each.startsWith(IreeProperties.DEFAULT_DEVICE))) {
            return "The program is compiled for the CPU: set 'iree.devices.<name>.uri=%s', and '%s.devices=<name>'. Or compile the program for the configured devices, with the flags above."
                    .formatted(IreeProperties.DEFAULT_DEVICE, module);
        }
        if (noTarget) {
            return NativeCode.unavailabilityCause()
                    .map(NativeAccessFailureAnalyzer::action)
                    .orElseGet(() -> compileForThisMachine(failure));
        }
        if (failure.detail(UnsupportedVersion.class).isPresent()) {
            return "Recompile the program with a release of iree-compile that produces the version that this runtime reads; 'iree-compile --version' shows the release.";
        }
        UnresolvedImport unresolved = failure.detail(UnresolvedImport.class).orElse(null);
        String imported = unresolved == null
                ? null
                : MissingPart.remedy(List.of(unresolved.module())).orElse(null);
        if (imported != null) {
            return StringUtils.capitalize(imported) + ".";
        }
        if (unresolved != null && !unresolved.moduleIsThere() && failure.code() != StatusCode.INCOMPATIBLE) {
            return """
                    Define a bean whose class is an '@IreeModule("%s")', if that module is written in Java, or add it with a bean of type \
                    'IreeModuleCustomizer'.""".formatted(unresolved.module());
        }
        WarmUpFault warmUp = failure.detail(WarmUpFault.class).orElse(null);
        if (warmUp != null) {
            return "Correct '%s.warm-up': the call of '%s' failed. 'bin/iree4j dump' shows the functions and the arguments."
                    .formatted(module, warmUp.function());
        }
        if (scope != null) {
            return "Correct '%s.parameters.%s', and inspect the file with 'bin/iree4j parameters dump'."
                    .formatted(module, scope);
        }
        if (failure.code() == StatusCode.INCOMPATIBLE) {
            return "Recompile the program with another release of iree-compile: the program requires a feature missing in this runtime. 'bin/iree4j dump' shows the imports.";
        }
        if (failure.code() == StatusCode.UNAVAILABLE
                || failure.detail(FileKind.class).isPresent()) {
            return "Make sure that '%s.location' is a file that the application may read.".formatted(module);
        }
        return "Inspect the file with 'bin/iree4j dump', and try it with 'bin/iree4j run --module=…'.";
    }

    /** The flags are the loader's, and not repeated where the failure has them already. */
    private static String compileForThisMachine(IreeException failure) {
        Loaders loaders = new Loaders(List.of(), Set.of());
        String flags = loaders.compileFlags(loaders.formats().getFirst());
        return "Compile the program for this machine, with %s and --iree-llvmcpu-target-cpu=generic. Or, much slower, for any machine, with --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx."
                .formatted(failure.getMessage().contains(flags) ? "the flags above" : "iree-compile " + flags);
    }

    /** Returns the scope of the parameter file named by a message; null for none. */
    private static @Nullable String namedScope(ProgramSource source, String message) {
        return source.parameters().entrySet().stream()
                .filter(scope -> scope.getValue().stream()
                        .anyMatch(location -> message.contains(location.substring(location.indexOf(':') + 1))))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** Returns whether the memory shortage is a driver's, which no budget of ours limits. */
    private static boolean isOfDriver(IreeException failure) {
        return failure.getMessage().contains("OUT_OF_MEMORY")
                || failure.getMessage().contains("OUT_OF_DEVICE_MEMORY");
    }

    /** Returns the driver of the GPU for which a program is compiled; null for a CPU. */
    private static @Nullable DriverProvider driverFor(UnsupportedTarget target) {
        for (String wanted : target.wanted()) {
            for (DriverProvider driver : DriverProvider.installed()) {
                String name = wanted.startsWith("rocm") ? "hip" : wanted;
                if (!driver.name().equals(IreeProperties.DEFAULT_DEVICE) && name.startsWith(driver.name())) {
                    return driver;
                }
            }
        }
        return null;
    }

    /**
     * Returns whether a program rejects devices; such compiled programs can be recognised only by these words,
     * generated by iree-compile.
     */
    private static boolean refusesDevices(IreeException failure) {
        return failure.getMessage().contains("HAL device");
    }

    /** Returns whether the program could run if shared libraries were allowed, or if compiled as an embedded ELF. */
    private boolean wantsLibraries(UnsupportedTarget target) {
        String architecture = architecture().equals("aarch64") ? "arm_64" : architecture();
        return target.wanted().contains("system-elf-" + architecture)
                && NativeCode.unavailabilityCause().isEmpty()
                && (allowedFormats.isEmpty() || allowedFormats.contains("embedded-elf-" + architecture));
    }

    private static String architecture() {
        String name = System.getProperty("os.arch", "");
        return name.equals("amd64") ? "x86_64" : name;
    }
}
