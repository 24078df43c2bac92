### Checks: title, evidence, what to do (keys: check-THREAT-title, -evidence, -advice).
