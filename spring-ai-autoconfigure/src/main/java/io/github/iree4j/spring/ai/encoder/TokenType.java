package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.hal.ElementType;

/** The integer type of tokens. */
public enum TokenType {
    /** Of 64 bits. */
    I64(ElementType.I64),
    /** Of 32 bits. */
    I32(ElementType.I32);

    private final ElementType elementType;

    TokenType(ElementType elementType) {
        this.elementType = elementType;
    }

    ElementType elementType() {
        return elementType;
    }
}
