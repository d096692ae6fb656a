#include <iostream>

#include "synfire/synfire.hpp"

int main() {
    std::cout << synfire::version() << '\n';
}
