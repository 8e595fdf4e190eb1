package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramSource.WarmUp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/** Makes the sources of programs out of {@code iree.modules}. */
final class ProgramSources {

    private final IreeProperties properties;
    private final List<IreeModuleCustomizer> customizers;

    ProgramSources(IreeProperties properties, List<IreeModuleCustomizer> customizers) {
        this.properties = properties;
        this.customizers = customizers;
    }

    /** The sources of all versions of a module. */
    List<ProgramSource> of(String name, IreeProperties.Module module) {
        List<ProgramSource> sources = new ArrayList<>();
        sources.add(source(name, "", module, module.version(), module.location(), module.sha256(), Map.of()));
        module.versions()
                .forEach((version, other) -> sources.add(source(
                        name,
                        "versions." + version + ".",
                        module,
                        version,
                        other.location(),
                        other.sha256(),
                        other.parameters())));
        return sources;
    }

    private ProgramSource source(
            String name,
            String prefix,
            IreeProperties.Module module,
            String version,
            @Nullable String location,
            @Nullable String sha256,
            Map<String, List<String>> parameters) {
        if (location == null || location.isBlank()) {
            throw new ModuleLocationMissingException(name + (prefix.isEmpty() ? "" : ".versions." + version));
        }
        String key = "iree.modules." + name + ".";
        try {
            return ProgramSource.builder(name, location)
                    .version(version)
                    .sha256(sha256)
                    .mapped(module.mapped())
                    .devices(properties.devicesOf(module))
                    .placement(module.placement())
                    .parameters(parameters.isEmpty() ? module.parameters() : parameters)
                    .contexts(module.contexts())
                    .overlappingCalls(module.overlappingCalls())
                    .warmUps(module.warmUp().stream()
                            .map(call -> new WarmUp(call.function(), call.inputs(), call.repeat()))
                            .toList())
                    .customizer(options -> customize(name, options))
                    .build();
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            boolean checksum = message.startsWith("'sha256'");
            throw new InvalidConfigurationPropertyValueException(
                    key + (checksum ? prefix + "sha256" : message.startsWith("'contexts'") ? "contexts" : "warm-up"),
                    checksum ? sha256 : message.startsWith("'contexts'") ? module.contexts() : module.warmUp(),
                    StringUtils.capitalize(message) + ".");
        }
    }

    private void customize(String name, ProgramOptions.Builder options) {
        customizers.forEach(customizer -> customizer.customize(name, options));
    }
}
