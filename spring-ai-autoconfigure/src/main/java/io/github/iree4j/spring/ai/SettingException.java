package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;

/** The refusal of a setting of a model, such as {@code max-tokens must be at least 1, not 0}. */
@NotForApplications
public final class SettingException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final String setting;
    private final String value;
    private final String reason;

    SettingException(String setting, Object value, String reason) {
        super(setting + " " + reason);
        this.setting = setting;
        this.value = String.valueOf(value);
        this.reason = reason;
    }

    /** Returns the name of the setting, also the name of the property below the prefix of the model. */
    public String setting() {
        return setting;
    }

    /** Returns the refused value as a text. */
    public String value() {
        return value;
    }

    /** Returns what is wrong, a sentence whose subject is the setting, without a full stop. */
    public String reason() {
        return reason;
    }
}
