package io.github.iree4j.spring.client;

import io.github.iree4j.Tensor;
import io.github.iree4j.TransferredTensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import java.util.List;

/** Compares Java types of client methods with declared types. A type refused here makes each call fail. */
final class DeclaredTypes {
    private DeclaredTypes() {}

    /** Returns whether values of a Java type may be inputs for an argument; true where the declaration is unknown. */
    static boolean takes(ValueDeclaration declared, Class<?> type) {
        if (declared.elementType().isEmpty() || declared.shape().isEmpty()) {
            return true;
        }
        ElementType element = declared.elementType().get();
        List<Long> shape = declared.shape().get();
        if (isTensor(type) || type.isArray()) {
            return declared.isTensor() && (!type.isArray() || takesElements(element, element(type)));
        }
        if (!type.isPrimitive()) {
            return true; // of Object and Number, only the value tells
        }
        return shape.isEmpty() && (element.isFloat() || !isReal(type));
    }

    /** Arrays of integers and booleans are not rounded to floats, unlike scalars. */
    private static boolean takesElements(ElementType element, Class<?> type) {
        return isReal(type) ? !element.isInteger() && !element.isBoolean() : !element.isFloat();
    }

    /** Returns whether a result may become a value of a Java type; true where the declaration is unknown. */
    static boolean returns(ValueDeclaration declared, Class<?> type) {
        if (declared.elementType().isEmpty() || declared.shape().isEmpty()) {
            return true;
        }
        ElementType element = declared.elementType().get();
        List<Long> shape = declared.shape().get();
        if (isTensor(type) || type.isArray()) {
            return declared.isTensor()
                    && (!type.isArray()
                            || (depth(type) == 1 || depth(type) == shape.size())
                                    && (isReal(element(type)) || !element.isFloat()));
        }
        boolean isNumber = type.isPrimitive() && type != boolean.class;
        return shape.stream().allMatch(each -> each == 1 || each == -1)
                && (!isNumber || isReal(type) || !element.isFloat());
    }

    private static boolean isTensor(Class<?> type) {
        return type == Tensor.class || type == TransferredTensor.class || type == BufferView.class;
    }

    private static boolean isReal(Class<?> type) {
        return type == float.class || type == double.class;
    }

    private static Class<?> element(Class<?> array) {
        Class<?> element = array;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return element;
    }

    private static int depth(Class<?> array) {
        int depth = 0;
        for (Class<?> type = array; type.isArray(); type = type.getComponentType()) {
            depth++;
        }
        return depth;
    }
}
