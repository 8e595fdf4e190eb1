package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.SettingException;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.status.IreeException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.io.Resource;

/**
 * The common part of the set-up of chat model, embedding model, reranker and classifier.
 *
 * @param prefix the prefix of the model's properties
 * @param action the work of the model, in messages
 * @param module name of the program
 */
record TextModelSetup(
        String prefix, String action, @Nullable String module) {

    private static final Logger LOGGER = LoggerFactory.getLogger(TextModelSetup.class);

    /** Loads the tokenizer of the property. */
    HuggingFaceTextTokenizer load(@Nullable Resource tokenizer) {
        if (tokenizer == null) {
            throw new TextModelUnavailableException(
                    "Module '%s' is configured to %s, but '%s.tokenizer' is not set.".formatted(module, action, prefix),
                    "Set it to the tokenizer.json of the model, for example 'classpath:models/tokenizer.json', or define a bean of type TextTokenizer.",
                    null);
        }
        try {
            return HuggingFaceTextTokenizer.load(tokenizer);
        } catch (IreeException e) {
            throw new TextModelUnavailableException(
                    "The tokenizer of '%s.tokenizer' cannot be used: %s.".formatted(prefix, e.getMessage()),
                    "Set it to the tokenizer.json that belongs to the model of module '%s'.".formatted(module),
                    e);
        }
    }

    /** Returns the tokenizer, which must be there. */
    TextTokenizer require(@Nullable TextTokenizer tokenizer) {
        if (tokenizer == null) {
            throw new TextModelUnavailableException(
                    "Module '%s' is configured to %s, but there is no tokenizer.".formatted(module, action),
                    "Set '%s.tokenizer', with 'ai.djl.huggingface:tokenizers' on the class path, as spring-boot-starter-iree-ai has it, or define a bean of type TextTokenizer."
                            .formatted(prefix),
                    null);
        }
        return tokenizer;
    }

    /** Checks a model whose program is loaded; the first request checks other models. */
    void check(Programs programs, Runnable check) {
        String name = String.valueOf(module);
        if (programs.find(name).isEmpty()) {
            if (programs.versions(name).isEmpty()) {
                LOGGER.warn("module '{}' of {}.module is not loaded; requests fail until it is", name, prefix);
            }
            return;
        }
        try {
            check.run();
        } catch (IreeException e) {
            throw new TextModelUnavailableException(
                    "Module '%s' of '%s.module' cannot %s: %s.".formatted(name, prefix, action, e.getMessage()),
                    "Name a module of 'iree.modules' and, where it has several functions, the one that takes tokens; the properties under '%s' describe its arguments and results."
                            .formatted(prefix),
                    e);
        }
    }

    /** Returns settings, whose failures name the property. */
    static <T> T settings(String prefix, Supplier<T> settings) {
        try {
            return settings.get();
        } catch (SettingException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "%s.%s".formatted(prefix, e.setting()), e.value(), "It %s.".formatted(e.reason()));
        }
    }
}
