package io.github.iree4j.vm.bytecode;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The layout of a class of compiled functions, shared by the emitters. */
final class UnitLayout {
    private final FunctionCode[] functions;
    private final boolean[] contained;
    private final boolean[] deferring;
    private final List<Object> constants = new ArrayList<>();
    private final Map<Object, Integer> indices = new IdentityHashMap<>();
    private final ClassDesc self;

    /**
     * Describes a class.
     *
     * @param functions all functions of the module
     * @param contained whether the class contains a function, per function
     * @param deferring whether a contained function may defer, per function
     */
    UnitLayout(FunctionCode[] functions, boolean[] contained, boolean[] deferring) {
        this.functions = functions;
        this.contained = contained;
        this.deferring = deferring;
        self = ClassDesc.of(CompiledUnit.class.getPackageName(), "CompiledFunctions");
    }

    ClassDesc self() {
        return self;
    }

    FunctionCode function(int ordinal) {
        return functions[ordinal];
    }

    boolean contains(int ordinal) {
        return contained[ordinal];
    }

    boolean mayDefer(int ordinal) {
        return deferring[ordinal];
    }

    String methodOf(int ordinal) {
        return "f" + ordinal;
    }

    /** Returns the class's constant for an object passed to the class when defined. */
    DynamicConstantDesc<?> constant(Object value, ClassDesc type) {
        int index = indices.computeIfAbsent(value, v -> {
            constants.add(v);
            return constants.size() - 1;
        });
        return DynamicConstantDesc.ofNamed(ConstantDescs.BSM_CLASS_DATA_AT, ConstantDescs.DEFAULT_NAME, type, index);
    }

    List<Object> constants() {
        return constants;
    }
}
