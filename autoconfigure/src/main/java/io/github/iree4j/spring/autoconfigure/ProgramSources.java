package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramSource.VariantModule;
import io.github.iree4j.spring.ProgramSource.Variants;
import io.github.iree4j.spring.ProgramSource.WarmUp;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/** Creates program sources from {@code iree.modules}. */
final class ProgramSources {

    private final IreeProperties properties;
    private final List<IreeModuleCustomizer> customizers;

    ProgramSources(IreeProperties properties, List<IreeModuleCustomizer> customizers) {
        this.properties = properties;
        this.customizers = customizers;
    }

    /** Returns the sources of all versions of a module. */
    List<ProgramSource> of(String name, IreeProperties.Module module) {
        List<ProgramSource> sources = new ArrayList<>();
        List<Variants> variants = variants(name, module);
        sources.add(source(
                name,
                "",
                module,
                module.version(),
                module.location(),
                module.sha256(),
                module.signature(),
                Map.of(),
                variants));
        String twice = "iree.modules.%s.versions.%s".formatted(name, module.version());
        if (module.versions().containsKey(module.version())) {
            throw invalid(
                    twice + ".location",
                    module.versions().get(module.version()).location(),
                    "the module at 'iree.modules.%s.location' has this version already; set another 'iree.modules.%s.version'"
                            .formatted(name, name));
        }
        module.versions()
                .forEach((version, other) -> sources.add(source(
                        name,
                        "versions." + version + ".",
                        module,
                        version,
                        other.location(),
                        other.sha256(),
                        other.signature(),
                        other.parameters(),
                        variants.stream().map(Variants::withoutModules).toList())));
        return sources;
    }

    private static List<Variants> variants(String name, IreeProperties.Module module) {
        List<Variants> all = new ArrayList<>();
        module.variants().forEach((function, variants) -> {
            String key = "iree.modules.%s.variants.%s.".formatted(name, function);
            ShapeRules rules;
            try {
                rules = variants.shapes() == null ? null : ShapeRules.parse(variants.shapes());
            } catch (IreeException e) {
                throw invalid(key + "shapes", variants.shapes(), e.getMessage());
            }
            List<VariantModule> modules = new ArrayList<>();
            for (IreeProperties.Module.VariantModule each : variants.modules()) {
                try {
                    modules.add(new VariantModule(
                            each.location() == null ? "" : each.location(), each.sha256(), each.sizes()));
                } catch (IllegalArgumentException e) {
                    throw invalid(key + "modules", each, e.getMessage());
                }
            }
            all.add(new Variants(function, rules, variants.functions(), modules));
        });
        return all;
    }

    private static InvalidConfigurationPropertyValueException invalid(
            String property, @Nullable Object value, @Nullable String reason) {
        return new InvalidConfigurationPropertyValueException(
                property, value, StringUtils.capitalize(String.valueOf(reason)) + ".");
    }

    private ProgramSource source(
            String name,
            String prefix,
            IreeProperties.Module module,
            String version,
            @Nullable String location,
            @Nullable String sha256,
            @Nullable String signature,
            Map<String, List<String>> parameters,
            List<Variants> variants) {
        if (location == null || location.isBlank()) {
            throw prefix.isEmpty()
                    ? ModuleLocationMissingException.of(name)
                    : ModuleLocationMissingException.of(name, version);
        }
        String key = "iree.modules." + name + ".";
        try {
            return ProgramSource.builder(name, location)
                    .version(version)
                    .sha256(sha256)
                    .signature(signature)
                    .mapped(module.mapped())
                    .devices(properties.devicesOf(module))
                    .placement(module.placement())
                    .parameters(parameters.isEmpty() ? module.parameters() : parameters)
                    .contexts(module.contexts())
                    .overlappingCalls(properties.advanced().overlappingCalls(name))
                    .warmUps(warmUps(key, module.warmUp()))
                    .variants(variants)
                    .customizer(options -> {
                        giveSignatures(module, options);
                        customize(name, options);
                    })
                    .build();
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            String property = message.replaceFirst("(?s)^'([a-z0-9]+)'.*", "$1");
            throw new InvalidConfigurationPropertyValueException(
                    key + (property.equals("sha256") ? prefix : "") + property,
                    switch (property) {
                        case "sha256" -> sha256;
                        case "version" -> version;
                        default -> module.contexts();
                    },
                    StringUtils.capitalize(message) + ".");
        }
    }

    private static void giveSignatures(IreeProperties.Module module, ProgramOptions.Builder options) {
        module.functions().forEach((function, given) -> {
            if (given.signature() != null) {
                options.signature(function, given.signature().strip());
            }
        });
    }

    private static List<WarmUp> warmUps(String key, List<IreeProperties.Module.WarmUp> calls) {
        List<WarmUp> all = new ArrayList<>();
        for (IreeProperties.Module.WarmUp call : calls) {
            String each = key + "warm-up[" + all.size() + "].";
            if (!StringUtils.hasText(call.function())) {
                throw invalid(each + "function", call.function(), "it must name a function of the program");
            }
            try {
                all.add(new WarmUp(call.function(), call.inputs(), call.repeat()));
            } catch (IllegalArgumentException e) {
                throw invalid(each + "repeat", call.repeat(), e.getMessage());
            }
        }
        return all;
    }

    private void customize(String name, ProgramOptions.Builder options) {
        customizers.forEach(customizer -> customizer.customize(name, options));
    }
}
