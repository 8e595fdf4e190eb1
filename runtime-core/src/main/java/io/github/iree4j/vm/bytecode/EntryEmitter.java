package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.R;
import static io.github.iree4j.vm.bytecode.MethodContext.EXECUTION;
import static io.github.iree4j.vm.bytecode.MethodContext.FRAME;
import static io.github.iree4j.vm.bytecode.MethodContext.SITE;
import static io.github.iree4j.vm.bytecode.OperationEmitter.OPERATIONS;
import static io.github.iree4j.vm.bytecode.OperationEmitter.STATE;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.VmCall;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Emits the methods by which calls from outside, and from interpreted frames, enter the Java method of a function. */
final class EntryEmitter {
    private static final ClassDesc CALL = ClassDesc.of(VmCall.class.getName());

    static final MethodTypeDesc ENTER = MethodTypeDesc.of(CD_boolean, EXECUTION, STATE, CALL, FRAME);
    static final MethodTypeDesc CALLED = MethodTypeDesc.of(CD_boolean, EXECUTION, STATE, FRAME, SITE);

    private EntryEmitter() {}

    /** Emits the entry from outside. Locals: stack, state, call, frame. */
    static void enter(CodeBuilder code, UnitLayout layout, FunctionCode function) {
        code.aload(0).aload(3).aload(1);
        String letters = function.convention.arguments();
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            code.aload(2);
            if (kind == R) {
                code.invokestatic(OPERATIONS, "argument", MethodTypeDesc.of(CD_Object, CALL));
            } else {
                String name = switch (letters.charAt(i)) {
                    case 'i' -> "i32";
                    case 'f' -> "f32";
                    case 'I' -> "i64";
                    default -> "f64";
                };
                code.invokevirtual(CALL, name, MethodTypeDesc.of(OperationEmitter.descOf(kind)));
            }
        }
        invoke(code, layout, function, 0, 4);
        ClassDesc result = FunctionEmitter.resultOf(function);
        if (function.convention.results().length() == 1) {
            code.loadLocal(TypeKind.from(result), 4).aload(2);
            code.invokestatic(OPERATIONS, "giveResult", MethodTypeDesc.of(CD_void, result, CALL));
        } else if (!function.convention.results().isEmpty()) {
            code.aload(0).aload(2).loadConstant(layout.constant(function, MethodContext.FUNCTION));
            code.invokestatic(
                    OPERATIONS, "giveResults", MethodTypeDesc.of(CD_void, EXECUTION, CALL, MethodContext.FUNCTION));
        }
        code.iconst_1().ireturn();
    }

    /** Emits the entry from interpreted frames. Locals: stack, state, caller's frame, site. */
    static void called(CodeBuilder code, UnitLayout layout, FunctionCode function) {
        code.aload(0);
        code.aload(0)
                .aload(2)
                .loadConstant(layout.constant(function, MethodContext.FUNCTION))
                .aload(1);
        code.invokevirtual(EXECUTION, "push", MethodTypeDesc.of(FRAME, FRAME, MethodContext.FUNCTION, STATE));
        code.aload(1);
        String letters = function.convention.arguments();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            byte kind = FunctionGraph.kindOf(letters.charAt(i));
            code.aload(2).aload(3);
            if (kind == R) {
                code.loadConstant(ref++);
                code.invokestatic(OPERATIONS, "ref", MethodTypeDesc.of(CD_Object, FRAME, SITE, CD_int));
            } else {
                boolean wide = RegisterPlan.isWide(kind);
                code.loadConstant(word);
                word += wide ? 2 : 1;
                code.invokestatic(
                        OPERATIONS,
                        wide ? "wide" : "word",
                        MethodTypeDesc.of(wide ? ConstantDescs.CD_long : CD_int, FRAME, SITE, CD_int));
                OperationEmitter.unbits(code, kind);
            }
        }
        invoke(code, layout, function, 0, 4);
        ClassDesc result = FunctionEmitter.resultOf(function);
        if (function.convention.results().length() == 1) {
            code.loadLocal(TypeKind.from(result), 4).aload(2).aload(3);
            code.invokestatic(OPERATIONS, "setResult", MethodTypeDesc.of(CD_void, result, FRAME, SITE));
        } else if (!function.convention.results().isEmpty()) {
            code.aload(0).aload(2).aload(3);
            code.invokestatic(OPERATIONS, "setResults", MethodTypeDesc.of(CD_void, EXECUTION, FRAME, SITE));
        }
        code.iconst_1().ireturn();
    }

    /** Calls the function with the arguments on the stack; returns at once if the function has deferred, else stores the result in a local. */
    private static void invoke(CodeBuilder code, UnitLayout layout, FunctionCode function, int x, int result) {
        code.invokestatic(layout.self(), layout.methodOf(function.ordinal), FunctionEmitter.typeOf(function));
        TypeKind kind = TypeKind.from(FunctionEmitter.resultOf(function));
        if (kind != TypeKind.VOID) {
            code.storeLocal(kind, result);
        }
        if (layout.mayDefer(function.ordinal)) {
            Label done = code.newLabel();
            code.aload(x).getfield(EXECUTION, "deferred", CD_boolean).ifeq(done);
            code.iconst_0().ireturn().labelBinding(done);
        }
    }
}
