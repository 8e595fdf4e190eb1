package io.github.iree4j.hal.vulkan;

import io.github.iree4j.call.AbiDeclaration;
import io.github.iree4j.spirv.SpirvExecutable;
import io.github.iree4j.spirv.SpirvModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Recognises narrow elements in shaders for wide elements only. Without {@code --iree-vulkan-target}, and for some
 * targets, compilers treat elements of fewer than 32 bits (f16, i8, i4, i1) as 32 bits wide: every driver then accesses
 * other addresses than the caller. The symptom: functions have such elements while no shader declares access to storage
 * of 8 or 16 bits. Some such programs are nevertheless correct: programs with elements packed and unpacked by the
 * compiler, as in 2023.
 */
public final class NarrowElements implements ProgramCheck {
    /** Numbers of {@code StorageBuffer16BitAccess}, {@code StorageBuffer8BitAccess}, and the variants for uniform buffers as well. */
    private static final Set<Integer> NARROW_STORAGE = Set.of(4433, 4434, 4448, 4449);

    private static final int WIDE = 32;
    private static final int NAMED = 3;

    /** Creates the check; checks are stateless. */
    public NarrowElements() {}

    @Override
    public boolean concerns(String format) {
        return format.startsWith("vulkan-");
    }

    @Override
    public List<String> warnings(ModuleDef module) {
        List<String> functions = new ArrayList<>();
        Set<String> types = new TreeSet<>();
        for (ModuleDef.Export export : module.exports()) {
            List<String> narrow = narrowElements(module.signatures().get(export.function()));
            if (!narrow.isEmpty()) {
                functions.add("'" + export.name() + "'");
                types.addAll(narrow);
            }
        }
        if (functions.isEmpty() || !isOfWideShadersOnly(module)) {
            return List.of();
        }
        String rest = functions.size() > NAMED ? " and %d more".formatted(functions.size() - NAMED) : "";
        return List.of(
                "module '%s' has shaders that know elements of 32 bits only, while %s%s of its functions have elements of %s: results on Vulkan may be wrong; compile it with --iree-vulkan-target= of what it runs on (such as ampere, rdna3 or valhall4)"
                        .formatted(
                                module.name(),
                                String.join(", ", functions.subList(0, Math.min(NAMED, functions.size()))),
                                rest,
                                String.join(", ", types)));
    }

    private static List<String> narrowElements(ModuleDef.Signature signature) {
        AbiDeclaration declared = AbiDeclaration.parse(signature.attributes().getOrDefault(VmFunction.DECLARATION, ""));
        if (declared == null) {
            return List.of();
        }
        return Stream.concat(declared.arguments().stream(), declared.results().stream())
                .map(AbiDeclaration.Value::tensor)
                .filter(tensor -> tensor != null && tensor.type().bitCount() < WIDE)
                .map(tensor -> tensor.type().toString())
                .toList();
    }

    /** Whether there are shaders, and no shader accesses storage of 8 or 16 bits. */
    private static boolean isOfWideShadersOnly(ModuleDef module) {
        boolean any = false;
        for (ModuleDef.Rodata constant : module.rodata()) {
            if (!SpirvExecutable.isAt(constant.bytes())) {
                continue;
            }
            try {
                for (MemorySegment shaders :
                        SpirvExecutable.read(constant.bytes()).modules()) {
                    any = true;
                    if (SpirvModule.read(shaders, new int[0]).capabilities().stream()
                            .anyMatch(NARROW_STORAGE::contains)) {
                        return false;
                    }
                }
            } catch (IreeException e) {
                return false; // loading reports why the shader cannot be read
            }
        }
        return any;
    }
}
